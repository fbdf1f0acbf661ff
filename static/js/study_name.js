// The name of a new study follows its title until somebody types a name: "named" is the name that nobody typed.

// As the server makes a name of a title, which it does once more.
const LONGEST = 50;

const nameOf = (title) =>
  title
    .normalize("NFKD")
    .replace(/[^\0-\x7f]/g, "")
    .toLowerCase()
    .replace(/[^\w\s-]/g, "")
    .replace(/[-\s]+/g, "-")
    .replace(/^[-_]+|[-_]+$/g, "")
    .slice(0, LONGEST)
    .replace(/^-+|-+$/g, "");

const { study, title, named } = document.querySelector("form.design-form").elements;
const [firstTitle, firstName] = [title.value, study.value];

// Also a name that is typed as it stood: from then on nobody else's.
study.addEventListener("input", () => {
  named.value = "";
});

title.addEventListener("input", () => {
  if (study.value && study.value !== named.value) {
    return;
  }
  const name = title.value === firstTitle ? firstName : nameOf(title.value) || named.value;
  study.value = name;
  named.value = name;
});
