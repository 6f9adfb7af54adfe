// <div id="swagger-ui" data-schema="/api/schema/"></div>
// The API's reference: the operations that Swagger UI lists, below a head of our own.
import { csrfToken } from "./ui/request.js";

/** Swagger UI's components where its own have a second `main`, links within buttons, or fields without names. */
const accessible = ({ React: { createElement } }) => {
  const named = (Field) => (props) =>
    createElement(
      "label",
      null,
      createElement("span", { className: "visually-hidden" }, props.description),
      createElement(Field, props),
    );
  return {
    components: {
      Operations: ({ getComponent }) =>
        createElement("div", { className: "swagger-ui" }, createElement(getComponent("operations", true))),
      authorizeOperationBtn: () => null, // requests from here go with the sign-in
      DeepLink: ({ text }) => createElement("span", null, text),
    },
    wrapComponents: { JsonSchema_string: named, JsonSchema_boolean: named },
  };
};

SwaggerUIBundle({
  dom_id: "#swagger-ui",
  url: document.getElementById("swagger-ui").dataset.schema,
  layout: "Operations",
  docExpansion: "none", // 150 rows and more are drawn only where they are in view: not found by Ctrl+F
  plugins: [accessible],
  syntaxHighlight: false,
  showMutatedRequest: false,
  requestInterceptor: (asked) => {
    asked.headers["X-CSRFToken"] = csrfToken();
    return asked;
  },
});
