// English, one file per page. No language translates Kubernetes' own words: kinds, plugins,
// extension points, fields.

import { activity } from './activity'
import { branch } from './branch'
import { cluster } from './cluster'
import { common } from './common'
import { decision } from './decision'
import { editor } from './editor'
import { explanation } from './explanation'
import { nodes } from './nodes'
import { resources } from './resources'
import { scheduler } from './scheduler'
import { shell } from './shell'
import { transfer } from './transfer'

export const en = {
  ...common,
  ...shell,
  ...cluster,
  ...activity,
  ...branch,
  ...resources,
  ...editor,
  ...decision,
  ...explanation,
  ...scheduler,
  ...transfer,
  ...nodes,
}

/** The messages that every language must have. */
export type Messages = typeof en
