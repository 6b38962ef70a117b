// 説明の各文。種類と項目は英語版と同じ。

import type { explanation as Words } from '@/i18n/en/explanation'

export const explanation: typeof Words = {
  explain: {
    best: '{pod} は {node} に割り当てられました: 割り当て可能な {feasible} ノード中で最高の合計 {total}、次点 {next} との差は {margin}。',
    tied: '{pod} は {node} に割り当てられました: 割り当て可能な {feasible} ノード中で最高の合計 {total}。{others} と同点で、ランダムに選ばれました。',
    tiedBySeed:
      '{pod} は {node} に割り当てられました: 割り当て可能な {feasible} ノード中で最高の合計 {total}。{others} と同点で、シードによって選ばれました。',
    only: '{pod} は {node} に割り当てられました: 評価した {evaluated} ノードのうち、割り当て可能な唯一のノードです。',
    firstFeasible:
      '{pod} は {node} に割り当てられました: 探索で最初に見つかった割り当て可能なノードです。ノードをスコア付けするものがないため、探索はそこで終わりました。',
    unscored:
      '{pod} は {node} に割り当てられました: 割り当て可能な {feasible} ノードの 1 つです。記録にスコアは含まれていません。',
    hinted: '{pod} は {node} に割り当てられました: opportunistic batching がこのノードを提案し、条件を満たしました。',
    wasNominated: '{pod} は {node} に割り当てられました: 指名済みのノードで、条件を満たしました。',
    waiting: '{pod} は {node} に決まり、{plugins} の許可を待っています。',
    error: '{pod} はエラーのため割り当てられませんでした: {message}',
    extenderError: '{pod} はエクステンダー {extender} が {verb} で失敗したため割り当てられませんでした: {message}',
    noNodes: '{pod} を割り当てられるノードがありません: クラスターにノードがありません。',
    preFilter: '{pod} はノードを調べる前に {plugins} に拒否されました: {reasons}',
    refusedLater: '{pod} は {node} に決まりましたが、{stage} で {plugin} に拒否されました: {reasons}',
    permitTimeout: '{pod} は {node} に決まりましたが、{plugin} が {waited} 以内に許可しませんでした。',
    lost: '{pod} は {node} に決まりましたが、その後拒否されました: {message}',
    noNode: '{pod} を割り当てられるノードがありません: {evaluated} ノードが拒否されました（{rejecters}）。',
    rejecter: '{plugin} が {nodes}',
    noReason: '理由は示されませんでした',
    unschedulable: '{pod} は割り当てられませんでした: {message}',
    waited: '{plugins} の許可を {waited} 待ちました。',
    nominatedCounted:
      '{nodes} ノードは、指名された Pod（{pods}）がそこで動いているものとして拒否されました。スケジューラーは、それらの Pod がない場合を試していません。',
    nominatedHolds: '{counted}{node} に指名された Pod は、そこで {amounts} と数えられます。',
    notEvicted: 'そのうち {victims} 個は追い出せませんでした: {errors}',
    searchEnded:
      '{nodes} ノードは評価されていません: 十分な数のノードが見つかった後で、エクステンダーがそれらを拒否しました。',
    room: 'プリエンプションで {victims} 個の Pod を追い出して、{node} に空きを作ります。',
    nominated: 'プリエンプションで {node} に空きを作ります。',
    nearest:
      '{node} では {lacks} が不足しています。 | リソースが不足している {nodes} ノードのうち、条件を満たすのに最も近いのは {node} で、不足は {lacks} です。',
    lack: '{resource} {amount}',
    lackPod: 'Pod 1 つ分の枠',
    derived: '{pod} がリクエストする {resource} は {amount} です: {derivation}。',
    requestPart: '{container}（{amount}）',
    requestOfPod: 'コンテナのリクエストによらず、Pod 全体に対して {amount}',
    requestPeak: 'サイドカー {sidecars} の実行中に動く init コンテナ {init}',
    requestInit: 'init コンテナ {init}',
    requestOverhead: '{said} + オーバーヘッド {overhead}',
    leaving: '{node} で使用中の {resource} {inUse} のうち {leaving} は空く予定です: {pods} が終了処理中です。',
    permitHold: '{pods} は {node} に決まり、許可を待つ間もそこで {resource} {amount} と数えられます。',
    resizing: '{pod} の {resource} は {amount} と数えられます: {resize}。',
    resizeDeferred: '{granted} から {asked} へのリサイズを要求し、延期されています（deferred）',
    resizeInfeasible: '{granted} から {asked} へのリサイズを要求しましたが、実現できません（infeasible）',
    resizeInProgress: '{granted} から {asked} へのリサイズを要求し、まだ完了していません',
    described: 'kubectl describe が示す {node} の {resource} は {inUse} ではなく {described} です: {why}。',
    describedNominated: '指名されただけの Pod は含まれません',
    describedPermit: '許可を待つ Pod は含まれません',
    describedResize: '割り当て済みの量ではなく、Pod が要求する量の合計です',
    nodesFromExtender:
      'エクステンダー {extender} にはノードのキャッシュがないため、スコアを付けるプラグインには Pod とイメージのないノードが渡されました。',
    extenderFailure: 'エクステンダー {extender} が {verb} で失敗しました: {message}',
    extenderIgnored: 'エクステンダー {extender} が {verb} で失敗しましたが、無視されました: {message}',
    panicked: '{plugin} が {call} で panic を起こし、この呼び出しは失敗として扱われました。',
    devicesAllocated: '割り当てられたデバイス: {claims}。',
    claimHolds: 'クレーム {claim} は {devices}',
    nextClaim: '{claims}、{next}',
    devicesOf: '{driver} の {devices}',
    nextDriver: '{devices} と {next}',
    devices: 'デバイス {n} 個',
    devicesAll: 'すべてのデバイス',
    deviceShortage:
      'クレーム {claim} のリクエスト {request} は、クラス {deviceClass} の{wanted}を必要とします。調べた {compared} ノードのうち {nodes} ノードでは満たせません（{why}）。',
    devicesNoMatch: '一致するデバイスが不足: {n} ノード',
    devicesInUse: '使用中: {n} ノード',
    devicesBlocked: '割り当て不可: {n} ノード',
    devicesTogether: '{nodes} ノードでは、各デバイスのリクエストを個別には満たせますが、すべてを同時には満たせません。',
    heldByGroup: '{pod} は {node} に決まりましたが、{shortfall}',
    notTried: '{pod} は試行されませんでした: {shortfall}',
    groupShort: 'どのメンバーも先に進めません: {shortfall}',
    shortfallGang:
      'Pod グループ {group} は {needs} メンバーを必要としますが、ノードが見つかったのは {found} メンバーだけです',
    shortfallNoGang: 'Pod グループ {group} のどのメンバーにもノードが見つかりませんでした',
    shortfallNearest: '{placements} 個の配置案のうち最良の {topologyKey}={name} でも、{shortfall}',
    shortfallAlone: '{shortfall}。',
    shortfallBlocked: '{shortfall}。ノードを拒否したのは {blockers} です。',
    blocker: '{plugin}（{members} メンバー）',
    blockerReasons: '{blocker}: {reasons}',
    groupRejected:
      '{pod} は試行されませんでした。どのメンバーも試行されないうちに、Pod グループ {group} が拒否されました: {reasons}。',
    groupHasEnough: 'Pod グループ {group} は {needs} メンバーを必要とし、すでに {has} メンバーが割り当て済みです。',
    groupPlaced: 'Pod グループ {group} の {members} メンバー中 {has} メンバーのノードが見つかりました',
    groupPlacedNeeds: '{placed}（必要数 {needs}）',
    groupPlacedAnywhere: '{placed}。',
    groupPlacedBest:
      '{placed}。配置先は {topologyKey}={name} で、合計 {total} は、{placements} 個の配置案のうち条件を満たす {fitting} 個の中で最高です。',
    groupPlacedOnly:
      '{placed}。配置先は {topologyKey}={name} で、{placements} 個の配置案のうち条件を満たす唯一のものです。',
    groupRoom: '{plugin} がグループのために空きを作ります。',
    groupVictims: '{plugin} が {victims} 個の Pod を追い出して、グループのために空きを作ります。',
    groupFits: '{plugin} はドライランで、Pod を追い出さずにグループを割り当てられるノードを見つけました。',
    groupRoomImpossible: '優先度の低い {pods} 個の Pod を追い出しても、グループは割り当てられません。',
    membersMissing:
      '{pod} はノードを調べる前に拒否されました。Pod グループ {group} には {needs} 個の Pod が必要ですが、{members} 個しかありません。',
    membersGated:
      '{pod} はノードを調べる前に拒否されました。Pod グループ {group} には {needs} 個の Pod が必要ですが、{members} 個のうち {gated} 個にスケジューリングゲートがあります。',
    groupBackedOff:
      '{pod} はノードを調べる前に拒否されました。Pod グループ {group} は直前に失敗したため、あと {left} はバックオフ中です。',
    groupLacksResources:
      '{pod} はノードを調べる前に拒否されました。Pod グループ {group} に必要なリソースのうち、全ノードを合わせても {lacking} が足りません。',
    groupMissing: '{pod} は {node} に決まりましたが、Pod グループ {group} が存在しないため拒否されました。',
    membersAwaited:
      '{pod} は {node} に決まり、待機しています。Pod グループ {group} は {needs} メンバー中 {has} メンバーの場所が決まり、あと {more} メンバー必要です。',
    memberFitsNowhere:
      '{pod} は {node} に決まりましたが、場所を失いました。Pod グループ {group} の {member} が収まるノードがないため、待機中のメンバーは戻されました。',
    memberLostPlace:
      '{pod} は {node} に決まりましたが、場所を失いました。Pod グループ {group} の {member} が場所を失ったため、待機中のメンバーは戻されました。',
    membersSentBack:
      'Pod グループ {group} は、必要な {needs} メンバーのうち {has} メンバーしか場所が決まっていないため、Coscheduling は待機中の {sent} メンバーを戻しました。',
    membersKept:
      'Pod グループ {group} は、必要な {needs} メンバーのうち {has} メンバーの場所が決まっています。不足がわずかなため、Coscheduling はほかのメンバーを待機させたままにします。',
    membersComplete: 'Pod グループ {group} は {needs} メンバーを必要とし、{has} メンバーの場所が決まっています。',
    membersShort:
      '待機を始めた時点で、Pod グループ {group} は、必要な {needs} メンバーのうち {has} メンバーの場所が決まっていました。',
    quotaAtMax:
      '{pod} はノードを調べる前に拒否されました。割り当てると {namespace} がクォータの max を超えます（{short}）。',
    quotasUsedUp:
      '{pod} はノードを調べる前に拒否されました。割り当てると全クォータの使用量の合計が min の合計を超えます（{short}）。',
    quotaShort: '{resource}: 使用中 {used} + 要求 {requested} > {limit}',
    quotaShortNominated: '{resource}: 使用中 {used} + 指名済み {nominated} + 要求 {requested} > {limit}',
    quotaBorrowers: 'min を超えて借りている名前空間: {loans}。',
    quotaLoan: '{namespace} が {resource} を {amount}',
    quotaReclaims: 'この Pod は {namespace} の min に収まるため、ほかの名前空間が借りている分を取り返せます。',
    quotaAboveMin:
      'この Pod を加えると {namespace} は min を超えるため、{namespace} 内の優先度の低い Pod からしか空きを得られません。',
    quotaNobody: '{nodes} ノードには、空きを得られる相手の Pod がありません。',
    quotaBorrows: 'この Pod を加えると {namespace} は min を超え、{loans} を借ります。',
    unalignedOn: '{node} には、 | 揃えられない {nodes} ノードのうち最も近いのは {node} ですが、',
    unalignedResource:
      '{where}{part} に必要な {resource} {requested} を単独で満たす NUMA ノードがありません: {zones}。',
    unaligned: '{where}{part} に必要なものをすべて備えた NUMA ノードがありません: {zones}。',
    unalignedAnywhere: '{where}{part} に必要なものをすべて備えた NUMA ノードがありません。',
    wholePod: 'Pod 全体',
    partOfPod: '{role} {container}',
    roles: { container: 'コンテナ', init: 'Init コンテナ', sidecar: 'サイドカーコンテナ' },
    zoneHasNone: '{zone} にはありません',
    zoneLists: '{zone} には {resource} がありません',
    zoneHas: '{zone} は {available}',
    zoneHasOf: '{zone} は {resource} が {requested} 必要なところ {available}',
    unknown: 'このページはサーバーより古く、{kind} を表示できません。ページを再読み込みしてください。',
    said: '割り当て可能な {feasible} ノード中で最高の合計 {total}。',
    saidRejected: '拒否:',
    saidMargin: '{next} との差は {margin}。',
    saidTied: '{others} と同点で、ランダムに選ばれました。',
    saidTiedBySeed: '{others} と同点で、シードによって選ばれました。',
  },
}
