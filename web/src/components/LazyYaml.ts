// The YAML editor, loaded when it is first needed.

import { defineAsyncComponent } from 'vue'

export const LazyYaml = defineAsyncComponent({ loader: () => import('./YamlEditor.vue'), delay: 150 })
