// Shows the schema of the API by Swagger UI, which is loaded before as a script of its own.
document.documentElement.classList.toggle("dark-mode", matchMedia("(prefers-color-scheme: dark)").matches);

const docs = document.querySelector("#docs");

window.SwaggerUIBundle({
  url: docs.dataset.schema,
  domNode: docs,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  // What is typed stays in this page.
  persistAuthorization: false,
  validatorUrl: null,
});
