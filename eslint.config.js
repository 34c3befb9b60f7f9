import js from "@eslint/js";
import globals from "globals";

export default [
  js.configs.recommended,
  {
    files: ["src/tuplet/web/static/*.js"],
    languageOptions: { ecmaVersion: 2024, sourceType: "module", globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "max-len": ["error", { code: 120 }],
      "no-shadow": "error",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_", ignoreRestSiblings: true }],
      "no-var": "error",
      "prefer-const": "error",
      eqeqeq: "error",
      curly: ["error", "multi-line"],
      semi: "error",
      quotes: ["error", "double", { avoidEscape: true, allowTemplateLiterals: true }],
      indent: ["error", 2, { SwitchCase: 1, ignoredNodes: ["TemplateLiteral *"] }],
      "no-trailing-spaces": "error",
      "eol-last": "error",
    },
  },
  { files: ["src/tuplet/web/static/theme.js"], languageOptions: { sourceType: "script" } },
];
