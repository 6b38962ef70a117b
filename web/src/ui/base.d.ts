import type { components } from './base'

type Base = typeof components

declare module 'vue' {
  export interface GlobalComponents {
    AppDialog: Base['AppDialog']
    EmptyState: Base['EmptyState']
    ErrorNotice: Base['ErrorNotice']
    IconGlyph: Base['IconGlyph']
    SearchField: Base['SearchField']
    SegControl: Base['SegControl']
    SelectMenu: Base['SelectMenu']
  }
}
