// Texts that every page uses.

import type { common as english } from './common.en'

export const common: typeof english = {
  common: {
    close: '閉じる',
    cancel: 'キャンセル',
    delete: '削除',
    dismiss: '閉じる',
    copy: 'コピー',
    copied: 'コピーしました',
    none: 'なし',
    all: 'すべて',
    more: 'ほか {n} 件',
    nodes: '{n} ノード',
    pods: '{n} Pod',
    attempt: '試行 {n}',
    retry: '再試行',
    loading: '読み込み中',
    notFound: 'ページが見つかりません',
    goHome: 'クラスター画面へ',
    errorTitle: '読み込めませんでした',
    requestFailed: 'リクエストに失敗しました',
    separator: '、',
    sentenceGap: '',
    partMissing: 'この部分はまだ読み込まれていません。シミュレーターが応答すると開きます。',
    noAnswer: 'サーバーが応答しませんでした（{message}）。',
  },
  outcome: { scheduled: '割り当て済み', unschedulable: '割り当て不可', waiting: '待機中', error: 'エラー' },
  cell: { P: '通過', R: '拒否', S: 'スキップ', N: '未実行', E: 'エラー', U: '未評価' },
}
