// サーバーなしで開けるファイルになった決定。

import type { report as english } from '@/i18n/en/report'

export const report: typeof english = {
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
    unchanged: '記録は書き出されたときから変わっていません（SHA-256: {sum}）。',
    changed: '記録は書き出された後に変更されています。信頼しないでください。',
    alone: 'このファイルはサーバーもネットワークも必要とせず、呼び出しもしません。',
    holds: '{size}、決定 {n} 件 | {size}、決定 {n} 件 | {size}、決定 {n} 件',
    download: 'サーバーなしで開けるファイルとしてダウンロード',
    openTitle: 'レポートを開く',
    openHint: 'レポートは決定 1 件を収めた HTML ファイルです。決定のページのダウンロードボタンで保存できます。ここにドロップするか、ファイルを選択してください。',
    choose: 'ファイルを選択…',
    close: 'レポートを閉じる',
    failed: {
      noReport: '{file} は決定のレポートではありません。',
      damaged: '{file} はレポートですが、内容を読み取れません。ファイルをもう一度受け取ってください。',
      tooNew: '{file} は新しいバージョンのシミュレーターのものです。ブラウザーで開くか、このシミュレーターを更新してください。',
    },
  },
}
