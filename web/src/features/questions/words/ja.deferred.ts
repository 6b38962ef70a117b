// The pages Why and What if.

import type * as english from './en.deferred'

export const questions: typeof english.questions = {
  questions: {
    pending: '{n} 個の Pod が割り当て待ちなのはなぜ？',
    longestFirst: '長く待っている順',
    pendingFor: '{namespace}、{age} 前から割り当て待ち',
    nonePending: '割り当て待ちの Pod はありません。すべての Pod にノードがあります。',
    noPods: 'このクラスターにはまだ Pod がありません。',
    other: 'ほかの質問',
    latest: '最近の決定',
    allDecisions: 'すべての決定',
    node: 'ノードの名前',
    here: {
      title: 'なぜここで、あちらではないのか？',
      last: '最後の決定: {pod} は {n} 個の割り当て可能なノードのうち {node} へ。',
      none: '複数のノードから選べた Pod はまだありません。',
    },
    not: {
      title: 'なぜこのノードではないのか？',
      body: 'ノードを選ぶと、そのノードを拒否したすべての決定と、拒否したプラグインを表示します。',
      act: '決定を表示',
    },
    group: {
      title: 'グループやジョブはなぜ待つのか？',
      body: 'Pod グループ、ジョブのキュー、クォータ、バッチスケジューラーのセッションを、それぞれのボードで確認できます。',
    },
    evicted: {
      title: 'Pod はなぜ退避させられたのか？',
      last: '最後のプリエンプション: {pod} が {node} に場所を空けました。',
      none: '最近の決定でプリエンプトされた Pod はありません。',
    },
    whatIf: 'もしも…？',
    whatIfLead: '実際とは異なる状況についての質問です。答えを適用するまで、クラスターは何も変わりません。',
    fit: {
      title: 'どうすれば Pod を割り当てられるか？',
      body: 'Pod、ノード、クラスターの最小の変更を、スケジューラー自身で確かめて示します。',
      none: '割り当て待ちの Pod はありません。現れたときは、割り当てに必要な最小の変更をここから調べられます。',
    },
    room: { body: '同じ Pod があと何個、どこに入り、次の 1 個を何が妨げるか。', act: '数える' },
    autoscaling: {
      title: 'オートスケーラーならどうするか？',
      body: '待っている Pod のために Karpenter がどのノードをいくらで追加するか、どのノードを減らせるか。',
      act: 'オートスケーリングを開く',
    },
    pod: {
      title: '新しい Pod はどこへ行くか？',
      body: 'Pod を書くと、作成する前に、スケジューラーが選ぶノードをマップに表示します。',
      act: 'Pod を書く',
    },
    configuration: {
      title: '別の構成なら何が変わるか？',
      body: 'リビジョン {n} の重みやプラグインを変え、適用する前に、異なる決定を確認できます。',
      act: 'スケジューラーを開く',
    },
    upgrade: {
      title: '別のバージョンの Kubernetes はどう決定するか？',
      body: 'アップグレードでどの決定が変わり、どのプラグインとフィーチャーゲートが原因か。',
      act: 'アップグレードレポートを開く',
    },
    drain: {
      title: 'ノードがなくなったら？',
      body: 'ノードを選ぶと、その Pod の行き先、ノードを失う Pod、ドレインを止める PodDisruptionBudget を示します。',
      act: 'ドレイン…',
    },
    scenario: {
      title: 'そのすべてが何度も起きたら？',
      body: 'シナリオは一連の操作を再生し、期待する結果を確かめます。スイープは重み、シード、規模を変えて繰り返します。',
      act: 'シナリオを開く',
    },
  },
}
