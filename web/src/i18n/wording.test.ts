// How both languages are written, as far as a machine can tell. A rule that finds nothing to
// object to today still keeps its word out tomorrow.
//
// English: as a native engineer writes it. Sentence case, typographic quotes and dashes,
// “50%”, an actor in every sentence, Kubernetes' own words.
//
// 日本語: Kubernetes の日本語ドキュメントと技術者の言い方に合わせる。
// - 句読点は「、」「。」、かっこは全角（）、疑問符は全角「？」。コロンは半角「: 」。
// - 英数字と日本語の間には半角の空白を入れる（記号や句読点との間には入れない）。
// - カタカナ語の語尾の長音は省かない（スケジューラー、クラスター）。「メモリ」だけは省く。
// - Pod、Taint、Toleration、拡張点やプラグインの名前は Kubernetes の表記のまま残す。
// - 用語は下の表のとおり、1 つの概念に 1 つの訳語だけを使う。

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as deferred from './deferredWords'
import { flatten } from './testing'
import * as words from './words'

const english = flatten({ ...words.en, ...deferred.en })
const japanese = flatten({ ...words.ja, ...deferred.ja })

interface Rule {
  not: RegExp
  /** What to write instead. */
  but: string
  /** Keys that may: the word means something else there. */
  except?: readonly string[]
}

/** The texts that break a rule, with what to write instead. */
function broken(texts: ReadonlyMap<string, string>, rules: readonly Rule[]): string[] {
  return rules.flatMap(({ not, but, except = [] }) =>
    [...texts]
      .filter(([key, text]) => not.test(text) && !except.includes(key))
      .map(([key, text]) => `${key}: “${text}” (${but})`)
  )
}

/** {'{n}'} stands for a literal {n} in a message. */
const literalBraces = /\{'[^']*'\}/g

/** A term, its one Japanese word, and the keys whose Japanese does without it. */
const glossary: readonly (readonly [term: string, word: string, except?: readonly string[]])[] = [
  ['scheduler', 'スケジューラー', ['held.why']],
  // The API object, by its kind.
  ['node', 'ノード', ['decision.extenderWhole']],
  ['cluster', 'クラスター'],
  ['controller', 'コントローラー'],
  ['plugin', 'プラグイン'],
  ['extension point', '拡張点'],
  ['extender', 'エクステンダー'],
  ['profile', 'プロファイル'],
  ['revision', 'リビジョン'],
  ['weight', '重み'],
  ['feasible', '割り当て可能'],
  ['rejected', '拒否'],
  ['skipped', 'スキップ'],
  ['candidate', '候補'],
  ['preemption', 'プリエンプション'],
  ['victim', '犠牲'],
  ['reprieved', '退避不要'],
  ['nominated', '指名'],
  ['priority', '優先度'],
  ['backoff', 'バックオフ'],
  ['queueing hint', 'キューイングヒント'],
  ['pod group', 'Pod グループ'],
  ['placement', '配置案'],
  ['snapshot', 'スナップショット'],
  ['dry run', 'ドライラン'],
  ['feature gate', 'フィーチャーゲート'],
  ['preset', 'プリセット'],
  ['draft', '下書き'],
  ['namespace', '名前空間', ['create.templates.namespace']],
  ['taint', 'Taint'],
  ['configuration', '構成'],
  ['zone', 'ゾーン'],
  ['decision', '決定', ['cluster.colVerdict', 'decision.stageAbout.Permit', 'decision.pluginFactsHint']],
  ['attempt', '試行', ['cluster.noRecent']],
  ['recording', '記録'],
  ['error', 'エラー'],
  ['field', 'フィールド'],
  ['normalized', '正規化後', ['score.step.normNone']],
  ['claim', 'クレーム'],
  ['device', 'デバイス'],
  ['memory', 'メモリ'],
  // Preemption「追い出す」, eviction「退避する」.
  ['evict(?:ed|ion)', '退避', ['preemption.evictions', 'explain.notEvicted', 'present.victims.evicted']],
]

describe('English', () => {
  const texts = new Map([...english].map(([key, text]) => [key, text.replace(literalBraces, '')]))
  // The server's sentences of the same decisions.
  const cases = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../../scheduler/explain/testdata/cases.json'), 'utf8')
  ) as { name: string; explanation: { sentence: string } }[]
  for (const { name, explanation } of cases) texts.set(`explain/testdata: ${name}`, explanation.sentence)

  it('says things the way an engineer says them', () => {
    expect(
      broken(texts, [
        { not: /\bThis goes\b/, but: 'This will be deleted' },
        { not: /\bunasked\b/i, but: 'by default' },
        { not: /That did not work/i, but: 'Could not load' },
        { not: /by chance/i, but: 'picked at random' },
        { not: /(?:fare|answer)s? otherwise/i, but: 'differ in Filter; a different result' },
        { not: /just so\b/i, but: 'already there, unchanged' },
        { not: /the same by the same/i, but: 'always replaced by the same word' },
        { not: /answers? to (?:that|it)\b/i, but: 'has that name' },
        { not: /What it is\b/, but: 'The type' },
        { not: /\bAs it was\b/i, but: 'Unchanged', except: ['timeline.asItWas'] },
        { not: /\bRemarks?\b/, but: 'Warnings' },
        { not: /more than there is/i, but: 'over capacity' },
        { not: /had back/i, but: 'restored' },
        { not: /\b(?:no|some|any)body\b|\bno one\b|\bwhoever\b/i, but: 'name the actor' },
        { not: /\bhears? of\b/i, but: 'reports' },
        { not: /\banew\b/i, but: 'again' },
        { not: /\bNorm\./, but: 'Normalized' },
        { not: /\bto best\b/i, but: 'vs. best' },
        { not: /\ba place on\b|\bhas a place\b/i, but: 'was assigned' },
        { not: /\bfound no node\b/i, but: 'cannot be scheduled' },
        { not: /nearest to fitting/i, but: 'closest fit' },
        { not: /\bmistakes?\b/i, but: 'errors' },
        { not: /\brefus(?:e|es|ed|al)\b/i, but: 'rejected' },
        { not: /\bwent on\b|\bgoes on\b/i, but: 'continued' },
        { not: /\btold\b|\bsays?:$/i, but: 'reports' },
      ])
    ).toEqual([])
  })
  it('is set in one typography', () => {
    expect(
      broken(english, [
        { not: /(?<!\{)'(?!\})/, but: '’', except: ['create.copiesUnclear'] },
        { not: /"/, but: '“ ”' },
        { not: /\.\.\./, but: '…' },
        { not: / {2}/, but: 'one space' },
        { not: /[\d}] %/, but: '50%' },
        { not: / - | -- /, but: 'another sentence' },
        { not: /[！-～、。]/, but: 'half-width signs' },
      ])
    ).toEqual([])
  })
})

describe('日本語', () => {
  /** Names that stay as they are: commands, identifiers, keys. */
  const names =
    /kube-[a-z]+|(?:default|batch)-scheduler|opportunistic batching|unschedulable pods|kubectl apply|gang|app=web,tier!=db|\(?-o wide\)?|\d+ GiB|spec\.\w+|metadata\.\w+/g
  const bare = new Map([...japanese].map(([key, text]) => [key, text.replace(literalBraces, '')]))
  const words = new Map([...bare].map(([key, text]) => [key, text.replace(/\{\w+\}/g, '').replace(names, '')]))

  /** 計算式のかっこは半角にする。 */
  const formulas = [...japanese]
    .filter(([key, text]) => key.startsWith('score.step.') && !/（[^）]*$/.test(text))
    .map(([key]) => key)

  it('は Kubernetes の技術者の言葉で書く', () => {
    expect(
      broken(words, [
        { not: /で動きます/, but: 'に割り当てられました' },
        { not: /保留/, but: '割り当て待ち、ゲートで停止中' },
        { not: /猶予(?!期間)|残せる/, but: '退避不要' },
        { not: /取り除/, but: '削除する、追い出す' },
        { not: /場所が空/, but: '空きができる' },
        { not: /まだ Pod を/, but: 'まだどの Pod も' },
        { not: /表示密度/, but: '表示形式' },
        { not: /(?<!生)活動/, but: 'アクティビティ' },
        { not: /の上に/, but: 'を元に' },
        { not: /犠牲 Pod|犠牲者|犠牲となる/, but: '犠牲になる Pod' },
        { not: /素点|生の(?:スコア|値)/, but: '正規化前' },
        { not: /無作為/, but: 'ランダムに' },
        { not: /パニック/, but: 'panic' },
        { not: /出来事/, but: 'イベント、変更' },
        { not: /誤り|間違い/, but: 'エラー' },
        { not: /却下|リジェクト|棄却/, but: '拒否' },
        { not: /実行可能なノード|配置可能なノード|候補ノード/, but: '割り当て可能なノード' },
        { not: /ウェイト|重み付け(?!き)/, but: '重み' },
        { not: /点数|得点/, but: 'スコア' },
        { not: /オーナー/, but: '所有者' },
        { not: /ネームスペース|名前スペース/, but: '名前空間' },
        { not: /拡張ポイント/, but: '拡張点' },
        { not: /機能ゲート/, but: 'フィーチャーゲート' },
        { not: /ノミネート/, but: '指名' },
      ])
    ).toEqual([])
  })
  it('は英語の普通名詞を混ぜない', () => {
    expect(
      broken(words, [
        {
          not: /(?<![\w.-])(?:nodes?|pods?|plugins?|skip|skipped|scheduler|cluster|namespace|weight|score|filter|extenders?|Extenders?|toleration|taints?|mem|Mem|profile|queue|preemption|dry run)(?![\w.-])/,
          but: '訳語か Kubernetes の表記（Pod、Taint）',
        },
      ])
    ).toEqual([])
  })
  it('は表記を揃える', () => {
    expect(
      broken(words, [
        {
          not: /(?:スケジューラ|クラスタ|コントローラ|サーバ|ブラウザ|エディタ|フォルダ|ユーザ|エクステンダ|セレクタ|パラメータ|タイマ|ヘッダ|プロバイダ|レイヤ|エラ)(?!ー|リング|ビリティ)/,
          but: '語尾に長音',
        },
        { not: /メモリー/, but: 'メモリ' },
        { not: /デフォールト|ディフォルト|既定/, but: 'デフォルト' },
        { not: /インターフェイス|ウインドウ/, but: 'インターフェース、ウィンドウ' },
        { not: /(?:^|[^一-龠])他の/, but: 'ほかの' },
        { not: /下さい|出来(?:る|ま)|全ての|更に|既に|及び|又は|毎に|(?<!作)為に|無い|有る/, but: 'ひらがな' },
        { not: /時間切れ/, but: 'タイムアウト' },
      ])
    ).toEqual([])
  })
  it('は英数字と日本語の間を半角で空ける', () => {
    // 値が日本語になる場所。
    const said = /\{(?:place|wanted|state)\}/g
    expect(
      broken(new Map([...bare].map(([key, text]) => [key, text.replace(said, '')])), [
        { not: /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー][A-Za-z0-9{]/u, but: '日本語の後に空白' },
        { not: /[A-Za-z0-9}%][\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u, but: '日本語の前に空白' },
      ])
    ).toEqual([])
  })
  it('は英語が文のときに文で終える', () => {
    // 見出しや操作、状態は文にしない。どちらの言語でも同じ。
    const sentence = { en: /[.](?: \||$)/, ja: /。(?: \||$)/ }
    const different = [...english].filter(
      ([key, text]) =>
        sentence.en.test(text) !== sentence.ja.test(japanese.get(key) ?? '') && !/\{message\}$/.test(text)
    )
    expect(different.map(([key, text]) => `${key}: “${text}” 「${japanese.get(key)}」`)).toEqual([])
  })
  it('は 1 つの概念に 1 つの訳語を使う', () => {
    const missing = glossary.flatMap(([term, word, except = []]) =>
      [...english]
        .filter(
          ([key, text]) =>
            new RegExp(`(?<![\\w{-])${term}s?(?![\\w}-])`, 'i').test(text) &&
            !(japanese.get(key) ?? '').includes(word) &&
            !except.includes(key)
        )
        .map(([key, text]) => `${term} → ${word}: ${key}: “${text}” 「${japanese.get(key)}」`)
    )
    expect(missing).toEqual([])
  })
  it('は和文の句読点と記号を使う', () => {
    expect(
      broken(bare, [
        {
          not: /, |,$|[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}],|,[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u,
          but: '、',
        },
        { not: /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー」）]\.(?:\s|$)/u, but: '。' },
        { not: /[()]/, but: '（）', except: formulas },
        { not: /：|；|！|／|\u3000/, but: '半角の「: 」、空白' },
        { not: /[０-９Ａ-Ｚａ-ｚ％]/, but: '半角の英数字' },
        { not: /[｡-ﾟ]/, but: '全角のカタカナ' },
        { not: /.\?/, but: '？' },
        { not: /・/, but: '、' },
        { not: /["“”‘’]/, but: '「」' },
        { not: / {2}/, but: '空白は 1 つ', except: ['create.copiesUnclear'] },
        { not: /[\d}] %/, but: '50%' },
        { not: /(?<!:)\s[、。（）「」？]|[、。（）「」？]\s(?!\|)/, but: '全角の記号の前後に空白を入れない' },
      ])
    ).toEqual([])
  })
})

describe('lists in sentences', () => {
  const root = join(import.meta.dirname, '..')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (f) => /\.(?:vue|ts)$/.test(f) && !/\.test\.ts$|\/model\/|PartsPage|testing/.test(f)
  )
  /** What plugins, the scheduler or a file wrote, quoted with its own commas, and CSS. */
  const quoted = /(?:reasons|errors|stops|errors \?\? \[\]\)|x\.key\)\))\??(?:\.map\([^)]*\))?\.join\(/

  it('are joined with the comma of the language', () => {
    const english = files.flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .filter((line) => /\.join\('[,;.] '\)/.test(line) && !quoted.test(line))
        .map((line) => `${file}: ${line.trim().slice(0, 120)}`)
    )
    expect(english).toEqual([])
  })
})
