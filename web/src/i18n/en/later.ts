// What the first page does without: words of dialogs and of places that are seldom opened.

import { importing } from './importing'
import { nodeAction } from './nodeAction'
import { replay } from './replay'

export const later = { ...importing, ...nodeAction, ...replay }

export type LaterMessages = typeof later
