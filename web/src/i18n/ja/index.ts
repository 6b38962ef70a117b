// 日本語。種類・プラグイン・拡張点・フィールド名は Kubernetes の表記のまま残す。

import type { Messages } from '@/i18n/en'
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

export const ja: Messages = {
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
