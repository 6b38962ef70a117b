// The recommended rules for TypeScript and Vue, and our rule for the directions of imports.

import js from '@eslint/js'
import vue from 'eslint-plugin-vue'
import ts from 'typescript-eslint'
import directions from './lint/directions.js'

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
      // TypeScript and vue-tsc report undefined names.
      'no-undef': 'off',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/unified-signatures': 'off',
      // Prettier formats, and breaks no text.
      'max-len': ['error', { code: 140, ignoreRegExpLiterals: true }],
      'vue/max-attributes-per-line': 'off',
      'vue/singleline-html-element-content-newline': 'off',
      'vue/multiline-html-element-content-newline': 'off',
      'vue/html-closing-bracket-newline': 'off',
      'vue/html-indent': 'off',
      'vue/html-self-closing': ['error', { html: { void: 'always', normal: 'always', component: 'always' } }],
      'vue/require-default-prop': 'off',
      'vue/attributes-order': 'off',
      'vue/block-lang': ['error', { script: { lang: 'ts' } }],
      'vue/component-api-style': ['error', ['script-setup']],
      'vue/no-v-html': 'error',
    },
  },
  { files: ['src/**/*.{ts,vue}'], plugins: { directions }, rules: { 'directions/imports': 'error' } },
  {
    // lazily preloads a part, so that it is there when the server is away.
    files: ['src/**/*.{ts,vue}'],
    ignores: ['src/**/*.test.ts', 'src/ui/unmount.setup.ts', 'src/i18n/deferred.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: ':not(CallExpression[callee.name="lazily"] > ArrowFunctionExpression) > ImportExpression',
          message: 'Load parts through lazily: () => import(…) is its argument.',
        },
      ],
    },
  },
  {
    files: ['public/**/*.js'],
    rules: { 'no-unused-vars': 'off', 'no-empty': 'off', '@typescript-eslint/no-unused-vars': 'off' },
  }
)
