// The YAML editor and the difference view, loaded when they are first needed.

import { defineAsyncComponent } from 'vue'
import { lazily } from '@/ui/lazily'

export const LazyYaml = defineAsyncComponent({ loader: lazily(() => import('./YamlEditor.vue')), delay: 150 })
export const LazyDiff = defineAsyncComponent({ loader: lazily(() => import('./YamlDiff.vue')), delay: 150 })
