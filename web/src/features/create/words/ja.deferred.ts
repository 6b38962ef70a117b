import type * as english from './en.deferred'

export const templates: typeof english.templates = {
  templates: {
    find: 'テンプレートを検索',
    none: '「{text}」に一致するテンプレートはありません。',
    needsGate: '--feature-gates {gate} を付けて起動したシミュレーターが必要です。',
    needsPlugin: 'プラグイン {plugin} が必要です。「スケジューラー」ページでプリセットを適用してください。',
    topic: {
      objects: '単一のオブジェクト',
      workloads: 'ワークロード',
      nodes: 'Pod が受け入れるノード',
      neighbours: '同居する Pod の条件',
      priority: '優先度とプリエンプション',
      waiting: '待機する Pod',
      resources: 'ボリュームとデバイス',
    },
    look: {
      pod: 'リソース要求を持つ Pod 1 個。すべてのプラグインの動きを確認できます。',
      node: '8 CPU の空のノード。',
      taintedNode: '対応する Toleration のない Pod をすべて拒否するノード。',
      namespace: 'Pod やクレームを入れる名前空間。',
      priorityClass: '先に試行され、ほかの Pod を追い出すこともできる Pod のクラス。',
      disruptionBudget: 'プリエンプションや drain で Pod が減りすぎるのを防ぎます。',
      customKind: '独自の種類の定義と、そのオブジェクト 1 個。',
      deployment: 'レプリカ 3 個。それぞれに決定が記録されます。',
      statefulSet: '名前の変わらない Pod 2 個を 1 個ずつ順に作成します。',
      daemonSet: 'ノードごとに 1 個の Pod。ノードアフィニティで各ノードに固定されます。',
      job: 'Pod 4 個を 2 個ずつ実行。終了した Pod の分だけノードが空きます。',
      toleration: 'Pod 2 個と Taint 付きのノード。Toleration のない Pod を TaintToleration が拒否する様子に注目。',
      nodeAffinity: 'ノード 2 個のうち SSD があるのは 1 個。もう一方を NodeAffinity が拒否する様子に注目。',
      failingZone:
        '3 つのゾーンのうち 1 つが障害中。Pod のないゾーンとして数えられるため、PodTopologySpread により半分の Pod が割り当て待ちのまま残ります。',
      podAffinity:
        'キャッシュと同じノードで動く必要がある Pod。キャッシュのないノードを InterPodAffinity が拒否する様子に注目。',
      antiAffinity:
        '同じノードに同居できないレプリカ 3 個とノード 2 個。3 個目に対して InterPodAffinity が両方のノードを拒否する様子に注目。',
      spread:
        '小さなゾーンを含む 3 ゾーンにレプリカ 6 個を分散。2 つのゾーンに空きがあっても、最後の Pod は割り当て待ちのままです。',
      fullNode: '満杯のノードに緊急の Pod が来ます。プリエンプションが優先度の低い Pod 2 個を追い出す様子に注目。',
      guarded:
        '満杯のノード 2 個のうち 1 個は PodDisruptionBudget で保護。プリエンプションがもう一方を選ぶ様子に注目。',
      gates: 'スケジューリングゲートのある Pod は試行されません。決定のページでゲートを外せます。',
      podGroup:
        '同時にしか開始しないワーカー 3 個に対し、空きは 2 個分。どれも割り当てられません。ノードを追加すると 3 個とも割り当てられます。',
      coscheduling:
        '同時にしか開始しない Pod 3 個のグループが 2 つ。一方には場所があり、もう一方の空きは 2 個分なので、その Pod はどれも割り当てられません。',
      elasticQuota:
        '2 つのチームで 8 CPU を分け合い、一方が相手の分を借ります。相手が必要になると、借りている Pod を CapacityScheduling が追い出す様子に注目。',
      numa: 'NUMA ノードが 2 つある 8 CPU のノード。5 CPU 空いていても、5 CPU を要求する Pod に対して NodeResourceTopologyMatch がこのノードを拒否する様子に注目。',
      volume:
        '片方のゾーンにだけあるローカルボリューム。もう一方のゾーンのノードを VolumeBinding が拒否する様子に注目。',
      claims:
        'Pod ごとにクレームがあり、ボリュームは Pod の割り当て先に作成されます。Pod を削除すると、代わりの Pod はボリュームのある同じゾーンに戻ります。',
      device:
        'GPU を要求する Pod 2 個に対し、ノードの GPU は 1 個。2 個目に対して DynamicResources がノードを拒否する様子に注目。',
    },
  },
}
