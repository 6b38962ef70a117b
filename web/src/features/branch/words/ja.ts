// ブランチ: 元のシミュレーターと並んで動くシミュレーター。

import type * as english from './en'

export const branch: typeof english.branch = {
  branch: {
    band: 'ブランチ',
    label: 'ブランチ',
    sandbox: 'サンドボックス',
    pastOfTrunk: 'トランクの {time} の状態から分岐',
    pastOfBranch: '{name} の {time} の状態から分岐',
    sinceTrunk: 'トランクから {time} に分岐',
    sinceBranch: '{name} から {time} に分岐',
    compare: 'トランクと比較',
    leave: 'トランクに戻る',
    leaveLesson: 'レッスンを終了',
    start: 'もう一度起動',
    gone: 'このブランチは削除されました。',
    stopped: 'ブランチは停止しています。',
    stoppedBody: 'クラスターは保存されています。起動すると続けられます。',
    failed: 'ブランチが異常終了しました: {message}',
    goneTitle: 'ブランチ {name} はありません',
    goneBody: '削除された可能性があります。',
    failedTitle: 'ブランチを起動できません',
    startingTitle: 'ブランチを起動しています',
    startingBody: '専用のコントロールプレーンとスケジューラーを準備しています。',
  },
}
