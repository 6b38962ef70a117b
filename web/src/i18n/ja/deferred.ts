// 最初の画面では使わない言葉。

import type { DeferredMessages } from '@/i18n/en/deferred'
import { importing } from './importing'
import { nodeAction } from './nodeAction'
import { replay } from './replay'
import { score } from './score'

export const deferred: DeferredMessages = { ...importing, ...nodeAction, ...replay, ...score }
