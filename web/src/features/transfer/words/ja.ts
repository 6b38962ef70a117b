// The menu of import, export, reset and replay, and the simulator's running operation.

import type * as english from './en'

export const transfer: typeof english.transfer = {
  transfer: {
    title: 'インポート / エクスポート',
    more: 'その他',
    export: 'クラスターをエクスポート',
    import: 'クラスターをインポート',
    reset: 'リセット',
    replay: '記録を再生',
    hint: {
      export: 'すべてのオブジェクトと設定を 1 つのファイルに',
      import: 'マニフェスト、エクスポート、フォルダーやアーカイブ全体',
      reset: 'すべてを削除し、最初のクラスターに戻す',
      replay: '実際のクラスターで起きたことを再現',
    },
    asking: 'サーバーの対応状況を確認中',
    notServed: 'このサーバーでは利用できません。',
    notOurs: 'コントロールプレーンは外部のものであるため、シミュレーターが空にすることはできません。',
    busy: '完了するまでお待ちください: {what}',
    dropHere: 'ドロップしてインポート',
  },
  operation: {
    import: 'インポート中',
    reset: 'リセット中',
    replay: '再生中',
    sync: 'クラスターに追従中',
    uploading: '送信中 {percent}',
    of: '{done} / {total}',
    imported: 'インポート完了',
    importFailed: 'インポート失敗',
    importIssues: 'インポート完了、{n} 件拒否',
    show: 'インポートを表示',
  },
  sync: {
    connecting: '{source} に接続中',
    live: '{source} に追従中',
    stale: '{source} から応答がありません',
    lastChange: '最後の変更 {time}',
    objects: '{n} オブジェクト',
  },
}
