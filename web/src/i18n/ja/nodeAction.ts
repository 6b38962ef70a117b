// Consequences of failures on demand and of deletion, and drains.

import type { nodeAction as english } from '@/i18n/en/nodeAction'

export const nodeAction: typeof english = {
  nodeAction: {
    many: '{n} ノード',
    action: { drain: 'drain', uncordon: 'uncordon' },
    ask: { drain: '{name} を drain しますか？' },
    follows: 'この後の動き',
    tainted: '数秒以内にノードに Taint {taint} が付き、新しい Pod はスケジュールされなくなります。',
    noPods: 'Pod はありません。',
    evictedAfter: 'その前にノードが復旧しなければ、{pods} が {time} 後に退避されます。',
    evictedAtOnce: '{pods} がすぐに退避されます。',
    staying: '{pods} は Taint を無期限に許容するため残ります。',
    replaced: 'コントローラーが、ほかのノードに代わりの Pod を作成します。',
    terminating:
      'kubelet が Pod を停止できないため、退避された Pod は、ノードが復旧するか削除されるまで Terminating のままです。',
    stopping: 'kubelet は動作を続け、Pod を停止します。',
    endsWith: 'ノードの障害は、復旧させるまで続きます。',
    deleted:
      'このノードに {pods} があります。約 1 分後にガベージコレクションの対象となり、コントローラーが代わりの Pod を作成します。',
    drainCordons: 'ノードを cordon してから、Pod を退避します。',
    drainEvicts: '{pods} を PodDisruptionBudget の範囲内で退避します。拒否された退避は 5 秒ごとに再試行します。',
    drainNothing: '退避する Pod はありません。',
    drainDaemons: 'DaemonSet の {pods} は残ります。',
    drainUnmanaged: 'コントローラーのない {pods} は再作成されません。',
    draining: '{name} を drain 中',
    drained: '{name} を drain しました: {pods} を退避',
    drainStopped:
      '{name} の drain を停止しました: {total} 個中 {done} 個の Pod を退避。ノードは cordon されたままです。',
    drainFailed: '{name} の drain が終わりました: {total} 個中 {failed} 個の Pod を退避できませんでした',
    drainCordonFailed: '{name} を cordon できませんでした: {message}',
    progress: '退避 {done} / {total}',
    blocked: 'PodDisruptionBudget による拒否 {n} 件、再試行中',
    failedPods: '失敗 {n} 件',
    goesOn: 'このダイアログを閉じても、ページを離れるまで drain は続きます。',
    stop: '停止',
    blockedState: 'PDB 待ち',
    failedState: '失敗',
  },
}
