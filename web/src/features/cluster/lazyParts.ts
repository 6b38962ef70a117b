// Parts of the map's page that its first view does not show.

import { defineAsyncComponent } from 'vue'
import { deferredComponent } from '@/i18n/deferred'
import { lazily } from '@/ui/lazily'

export const PredictionBar = deferredComponent(lazily(() => import('./PredictionBar.vue')))
export const NodeTable = defineAsyncComponent(lazily(() => import('./NodeTable.vue')))
