/** The words that tell what kind of work a text asks for, in the languages that callers write most. Data, and no logic. */

/** What a word may tell; a word may tell several things. */
export type Cue = 'hard' | 'easy' | 'constraints' | 'code' | 'mathematics'

/**
 * A word of six letters stands for every word that begins with it, so that one entry covers inflections and cognates of
 * several languages (`analys…`, `optimi…`). Other words match whole.
 */
export const CUE_WORDS: Readonly<Record<Cue, string>> = {
  /** Work that takes several steps of thought, judgement, or care over a large text. */
  hard: `
    prove proof proofs disprove derive derives derivation justify analyse analyze analysi assess evaluate critique critical
    design implem optimise optimize optimi refact migrate migrat debug diagno architecture archit algori strategy strate
    hypothesis hypoth investigate invest correlate correl rebut rebuts reason reasoning explain explai interpret interp
    persuasive negotiate negoti plan propose propos recommend recomm resolve reconcile reconc reconstruct recons synthesise
    synthe infer deduce compare comparing contradiction contradictory contradictions contradicted trade-offs tradeoffs
    implications implication assumption assumptions ambiguous ambiguity liability risks risk root cause causes deadlock
    concurrent concurrency race leak leaks leaking vulnerabilities vulnerability exploit threat invariant invariants
    correctness complexity terminate terminates distributed scalable consistency consensus why theory theories evidence
    counterargument counterarguments thesis essay narrative unreliable weigh discuss discre estimate simulate maximise
    maximize minimise minimize determine show expected variance eigenvalues theorem induction integral differential
    confidence dependencies precedence conflicts conflicting deduplicate methodological downtime rollback step trace
    beweise beweis herleiten leite entwirf analysiere vergleiche erkläre begründe begründung bewerte annahmen strategie
    démontre conçois justifie compromis analiza analice analizza evalúa diseña compara explica interpretare dissertation
    antithèse compare analise explique diferenças докажи разработай оцени сравни объясни проанализируй контраргументы сложность
    açıkla karşılaştır değerlendir çelişkili riskleri
  `,
  /** Work that any model does well. */
  easy: `
    hi hello hey thanks thank translate translation spell spelling typo typos synonym synonyms capital joke jokes convert list
    who when which where name names rename format title short shorter shorten summarise summarize summary tldr round add
    print hello weather timer alarm play turn lights set get delete unlock track define meaning mean means label tag copy
    extract parse positive negative yes happy birthday sentence colour color average simplify polite politely search send
    what's look only bullet email phone number reverse center
    danke wie sagt schreib hauptstadt übersetze merci traduis corrige dame cuál hola come dice qual quel какая назови переведи
    bugün
  `,
  /** Words that bind the answer. */
  constraints: `
    must should without within exactly least most every each except unless subject avoid avoids avoiding including ensure
    neither never nobody between until respecting whether given assuming while including both together either
    ohne sans sin senza sowie jede chaque cada
  `,
  code: `
    python javascript typescript java rust golang sql bash git docker regex css html react node postgres query function const
    class async await code compile compiler api endpoint kernel cuda llvm haskell json stash thread threads mutex pointer
    schema database refact stack heap snippet loop array hook parser github cache test tests module modules controllers
    pipeline pipelines deploy deploys código codice коде asyncio crdt raft repo program undefined arrow println runtime
    container containers div status bug failing
  `,
  mathematics: `
    prove integral integrals equation equations prime primes theorem matrix eigenvalue eigenvalues probability converge
    sequence polynomial variance expected derivative differential induction continuous hilbert vector square root percent
    fraction perimeter rectangle integer integers recurrence coin dice die urn urns fibonacci residue wurzel primzahlen
    combinatorial estimator schätzers varianz celsius fahrenheit kilometres solve simplify maximise generating fair disprove
    dominoes cube sided plus minus
  `,
}

/** Cues of scripts whose words are best known by a part of them. */
export const CUE_PARTS: readonly (readonly [Cue, RegExp])[] = [
  [
    'hard',
    /证明|設計|设计|分析|架构|权衡|比较|評価|说明为什么|説明|最適|競合|비교|분석|한계|구현|حلل|قارن|المخاطر|विश्लेषण|तुलना/g,
  ],
  ['easy', /翻译|是什么|今天|谢谢|你好|안녕|عاصمة|राजधानी|क्या है|人口は/g],
  ['mathematics', /证明|整环|方程|積分|积分/g],
  ['code', /代码|コード|算法|코드/g],
]
