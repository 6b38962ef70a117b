// The Events page.

import type * as english from './en.deferred'

export const events: typeof english.events = {
  events: {
    filter: 'イベントを絞り込む',
    noMatch: 'この絞り込みに一致するものはありません。',
    colType: '種別',
    colEvent: '理由',
    colObject: 'オブジェクト',
    colMessage: 'メッセージ',
    colCount: '回数',
    none: 'イベントはまだありません',
    noneBody: 'Kubernetes はイベントを 1 時間保持します。新しいイベントは、発生するとここに表示されます。',
  },
}
