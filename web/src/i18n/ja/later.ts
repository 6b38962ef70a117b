// 最初の画面では使わない言葉。

import type { LaterMessages } from '@/i18n/en/later'
import { importing } from './importing'
import { nodeAction } from './nodeAction'
import { replay } from './replay'

export const later: LaterMessages = { ...importing, ...nodeAction, ...replay }
