// Messages that the first page does not need: those of dialogs and of pages that are rarely opened.

import { act } from './act'
import { importing } from './importing'
import { nodeAction } from './nodeAction'
import { present } from './present'
import { replay } from './replay'
import { score } from './score'
import { search } from './search'
import { templates } from './templates'
import { tour } from './tour'

export const deferred = { ...act, ...importing, ...nodeAction, ...present, ...replay, ...score, ...search, ...templates, ...tour }

export type DeferredMessages = typeof deferred
