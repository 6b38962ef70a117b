// The YAML editor and the difference view, loaded when they are first needed.

import { defineAsyncComponent } from 'vue'

export const LazyYaml = defineAsyncComponent({ loader: () => import('./YamlEditor.vue'), delay: 150 })
export const LazyDiff = defineAsyncComponent({ loader: () => import('./YamlDiff.vue'), delay: 150 })
