// The components that every template may use without importing them; base.d.ts has their types.

import type { App } from 'vue'
import AppDialog from './AppDialog.vue'
import EmptyState from './EmptyState.vue'
import ErrorNotice from './ErrorNotice.vue'
import IconGlyph from './IconGlyph.vue'
import SearchField from './SearchField.vue'
import SegControl from './SegControl.vue'
import SelectMenu from './SelectMenu.vue'

export const components = { AppDialog, EmptyState, ErrorNotice, IconGlyph, SearchField, SegControl, SelectMenu }

/** A plugin for createApp. */
export function baseComponents(app: App): void {
  for (const [name, component] of Object.entries(components)) app.component(name, component)
}
