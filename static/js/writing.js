// A text that is written as the answer: how long it is, and whether it may be sent.

const fieldOf = (form) => form.querySelector("[data-writing]");

// As the server counts it: on one line.
const lengthOf = (text) => [...text.trim().replace(/\s+/g, " ")].length;

function whatIsMissing({ dataset, value, form }) {
  const length = lengthOf(value);
  const isLeft = form.elements.not_possible?.checked;
  if (isLeft) return length ? dataset.textBoth : "";
  if (!length) return dataset.textEmpty;
  if (length < dataset.fewest) return dataset.textShort.replace("{missing}", dataset.fewest - length);
  return length > dataset.most ? dataset.textLong.replace("{more}", length - dataset.most) : "";
}

function look(form) {
  const field = form && fieldOf(form);
  if (!field) return;
  field.setCustomValidity(whatIsMissing(field));
  const shown = form.querySelector("[data-length]");
  shown.textContent = lengthOf(field.value).toLocaleString(document.documentElement.lang);
  shown.closest(".length").toggleAttribute("data-over", lengthOf(field.value) > field.dataset.most);
}

document.addEventListener("question:shown", ({ target }) => look(target));
for (const sign of ["input", "change"]) document.addEventListener(sign, ({ target }) => look(target.closest("[data-question]")));
