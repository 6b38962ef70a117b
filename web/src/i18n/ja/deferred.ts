// 最初の画面では使わない言葉。

import type { DeferredMessages } from '@/i18n/en/deferred'
import { act } from './act'
import { batch } from './batch'
import { importing } from './importing'
import { learn } from './learn'
import { nodeAction } from './nodeAction'
import { present } from './present'
import { queues } from './queues'
import { replay } from './replay'
import { report } from './report'
import { runs } from './runs'
import { score } from './score'
import { search } from './search'
import { sessions } from './sessions'
import { templates } from './templates'
import { timeline } from './timeline'
import { tour } from './tour'
import { whatif } from './whatif'

export const deferred: DeferredMessages = {
  ...act,
  ...batch,
  ...importing,
  ...learn,
  ...nodeAction,
  ...present,
  ...queues,
  ...replay,
  ...report,
  ...runs,
  ...score,
  ...search,
  ...sessions,
  ...templates,
  ...timeline,
  ...tour,
  ...whatif,
}
