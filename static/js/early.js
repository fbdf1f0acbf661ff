// Read before anything is painted, so that no page flashes: the colours, contrast and text size wished for on this device.
try {
  const wished = JSON.parse(localStorage.getItem("lineup:comfort")) ?? {};
  for (const setting of ["theme", "contrast", "text"])
    if (wished[setting]) document.documentElement.dataset[setting] = wished[setting];
} catch {
  // A browser that stores nothing shows what the device asks for.
}
