// サーバーなしで開けるファイルになった結果: 決定、実行、レッスン。

import type * as english from './en.deferred'

export const report: typeof english.report = {
  report: {
    title: '{namespace}、{n} 回目の試行',
    attemptOf: '{pod}、試行 {n}',
    recorded: '記録',
    sides: '表示する決定',
    differences: 'A（{a}）から B（{b}）への違い',
    scheduler: 'スケジューラー',
    profile: 'プロファイル {name}',
    configuration: '設定',
    attempt: '結果',
    nodes: '{total} ノード中 {evaluated} ノードを評価、{feasible} ノードが割り当て可能',
    decided: '決定の時刻',
    exported: '{time} に書き出し',
    simulator: 'シミュレーター',
    names: '名前はクラスターのまま',
    redacted: '名前は伏せられています',
    runsKind: 'シナリオ',
    lessonKind: 'レッスン',
    challengeKind: 'チャレンジ',
    exerciseKind: '練習問題',
    configurations: '設定',
    runs: '実行',
    runsPassed: '{total} 件中 {passed} 件が合格',
    scenario: '表示するシナリオ',
    inMemory: 'メモリ内',
    made: '書き出し',
    checks: '確認',
    unchanged: '記録は書き出されたときから変わっていません（SHA-256: {sum}）。',
    changed: '記録は書き出された後に変更されています。信頼しないでください。',
    alone: 'このファイルはサーバーもネットワークも必要とせず、呼び出しもしません。',
    holds: { decision: '{size}、決定 {n} 件', runs: '{size}、実行 {n} 件', lesson: '{size}、確認 {n} 件' },
    download: 'サーバーなしで開けるファイルとしてダウンロード',
    downloadNames: '名前のまま',
    downloadHint: 'Pod、ノード、ラベルの名前はクラスターのままです。',
    downloadRedacted: '名前を伏せる',
    downloadRedactedHint: '名前をどこでも同じ別名に置き換えます。量とスコアはそのままです。',
    openTitle: 'レポートを開く',
    openHint:
      'レポートは、決定、シナリオの実行、またはレッスンの結果を収めた HTML ファイルです。それぞれのページのダウンロードボタンで保存できます。ここにドロップするか、ファイルを選択してください。',
    choose: 'ファイルを選択…',
    close: 'レポートを閉じる',
    failed: {
      noReport: '{file} はレポートではありません。',
      damaged: '{file} はレポートですが、内容を読み取れません。ファイルをもう一度受け取ってください。',
      tooNew:
        '{file} は新しいバージョンのシミュレーターのものです。ブラウザーで開くか、このシミュレーターを更新してください。',
    },
  },
}
