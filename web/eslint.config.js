// Rules of the house that a machine can hold: the TypeScript and Vue recommendations,
// and the direction of imports: api → domain → stores → components → pages.

import js from '@eslint/js'
import vue from 'eslint-plugin-vue'
import ts from 'typescript-eslint'

const frameworks = ['vue', 'vue-router', 'vue-i18n', '@tanstack/*', '@codemirror/*']

/** Forbids a folder to import from rooms that come after it, by alias or by relative path. */
function room(folder, later, packages = []) {
  return {
    files: [`src/${folder}/**/*.{ts,vue}`],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            ...later.map((name) => ({
              group: [`@/${name}`, `@/${name}/*`, `../${name}`, `../${name}/*`, `../../${name}/*`],
              message: `${folder} comes before ${name}: api → domain → stores → components → pages.`,
            })),
            ...(packages.length ? [{ group: packages, message: `${folder} imports no framework.` }] : []),
          ],
        },
      ],
    },
  }
}

export default ts.config(
  { ignores: ['dist/', 'node_modules/', 'test-results/', 'playwright-report/', 'src/api/schema.ts'] },
  js.configs.recommended,
  ...ts.configs.strict,
  ...vue.configs['flat/recommended'],
  {
    files: ['**/*.vue'],
    languageOptions: { parserOptions: { parser: ts.parser } },
  },
  {
    rules: {
      // vue-tsc and TypeScript know undefined names better.
      'no-undef': 'off',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/unified-signatures': 'off',
      // Layout is the writer's.
      'vue/max-attributes-per-line': 'off',
      'vue/singleline-html-element-content-newline': 'off',
      'vue/multiline-html-element-content-newline': 'off',
      'vue/html-closing-bracket-newline': 'off',
      'vue/first-attribute-linebreak': 'off',
      'vue/html-indent': 'off',
      'vue/html-self-closing': ['error', { html: { void: 'always', normal: 'always', component: 'always' } }],
      'vue/require-default-prop': 'off',
      'vue/attributes-order': 'off',
      'vue/no-multi-spaces': 'off',
      'vue/block-lang': ['error', { script: { lang: 'ts' } }],
      'vue/component-api-style': ['error', ['script-setup']],
      'vue/no-v-html': 'error',
    },
  },
  room('api', ['domain', 'stores', 'components', 'pages', 'i18n', 'router'], frameworks),
  room('domain', ['stores', 'components', 'pages', 'i18n', 'router'], frameworks),
  room('stores', ['components', 'pages', 'i18n', 'router']),
  room('components', ['pages', 'router']),
  { files: ['public/**/*.js'], rules: { 'no-unused-vars': 'off', 'no-empty': 'off', '@typescript-eslint/no-unused-vars': 'off' } },
)
