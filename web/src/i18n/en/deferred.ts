// Messages that the first page does not need: those of dialogs and of pages that are rarely opened.

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

export const deferred = {
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

export type DeferredMessages = typeof deferred
