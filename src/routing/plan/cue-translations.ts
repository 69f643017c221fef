/**
 * The commonest instructions in the languages that callers write most beside English. Data, and no logic.
 *
 * Every language says the same things in the same order, so that none has a word because some prompt holds it:
 *
 * - hard: prove, analyse, compare, evaluate, explain, justify, design, plan, optimise
 * - easy: hello, thanks, translate, summarise, list, define, correct, which, who, where
 * - constraints: must, without, every
 * - code: code
 * - mathematics: equation, probability
 *
 * Commas part the meanings, slashes the forms of one. What is also a common word of English is left out (was, her, come).
 */
import type { Cue } from './cue-words'

type Translations = Readonly<Record<string, Readonly<Record<Cue, string>>>>

/** Languages whose words stand apart. A form of six letters stands for every word that begins with it. */
export const TRANSLATED_WORDS: Translations = {
  german: {
    hard: 'beweis, analys, vergle, bewert, erklär/erläut, begrün, entwir/entwer/entwur, plane/planen, optimi',
    easy: 'hallo, danke, übersetze/übersetzen, fasse/zusammenfassung, nenne/liste, definiere, korrig, welche, wer, wo',
    constraints: 'muss/müssen, ohne, jede/jeder/jedes',
    code: 'programm',
    mathematics: 'gleichung/gleichungen, wahrscheinlichkeit',
  },
  french: {
    hard: 'démontre/démontrer/prouve/prouver, analys, compar, évalue, expliq, justif, conçois/concevoir, planif, optimi',
    easy: 'bonjour/salut, merci, tradui, résume, liste/énumère, définis/définir, corrig, quel/quelle/quels/quelles, qui, où',
    constraints: 'doit/doivent/dois, sans, chaque',
    code: 'programme',
    mathematics: 'équation/équations, probabilité',
  },
  spanish: {
    hard: 'demues/demost, analiz, compar, evalúa/evalúe/evaluar, explica/explique/explicar, justif, diseña, planif, optimi',
    easy: 'hola, gracias, traduc, resumen/resumir, lista/enumera, definir, corrig, cuál/cuáles, quién/quiénes, dónde',
    constraints: 'debe/deben/debes, sin, cada',
    code: 'código/programa',
    mathematics: 'ecuación/ecuaciones, probabilidad',
  },
  italian: {
    hard: 'dimost, analiz, confronta/paragona, valuta, spiega, giustifica, progetta/progettare, pianif, ottimi',
    easy: 'ciao, grazie, traduc, riassu, elenca, definisci/definire, correg, quale/quali/qual, chi, dove',
    constraints: 'deve/devono/devi, senza, ogni',
    code: 'codice/programma',
    mathematics: 'equazione/equazioni, probabilità',
  },
  portuguese: {
    hard: 'demonstre/demonstrar, analis, compar, avalie/avaliar, expliq/explicar, justif, projete/projetar, planej, otimiz',
    easy: 'olá, obrigado/obrigada, traduz, resuma/resumir, liste/enumere, defina/definir, corrij, qual/quais, quem, onde',
    constraints: 'deve/devem, sem, cada',
    code: 'código/programa',
    mathematics: 'equação/equações, probabilidade',
  },
  russian: {
    hard: 'докажи/доказа, анализ/проана, сравни, оцени/оцените, объясн, обосну, спроек/разраб, сплани, оптими',
    easy: 'привет, спасибо, переве, кратко, перечи/назови, опреде, исправ, какой/какая/какое/какие, кто, где',
    constraints: 'должен/должна/должно/должны, без, каждый/каждая/каждое',
    code: 'код/кода/программа',
    mathematics: 'уравне, вероят',
  },
  turkish: {
    hard: 'kanıtl, analiz, karşılaştır, değerlendir, açıkla, gerekç, tasarl, planla, optimi',
    easy: 'merhaba/selam, teşekk, çevir, özetle, listele/sırala, tanımla, düzelt, hangi, kim, nerede',
    constraints: 'gerekir/zorunda, olmadan, bütün',
    code: 'kod',
    mathematics: 'denklem, olasılık',
  },
}

/** Scripts that write no gaps, or words that change at both ends: looked for anywhere in the text. */
export const TRANSLATED_PARTS: Translations = {
  chinese: {
    hard: '证明/證明, 分析, 比较/比較, 评估/評估/评价, 解释/解釋, 论证/論證, 设计/設計, 规划/規劃, 优化/優化',
    easy: '你好/您好, 谢谢/謝謝, 翻译/翻譯, 总结/總結, 列出, 定义/定義, 改正/纠正, 哪个/哪些, 谁/誰, 哪里/哪裡',
    constraints: '必须/必須, 不使用, 每个/每個',
    code: '代码/程序',
    mathematics: '方程, 概率',
  },
  japanese: {
    hard: '証明, 分析, 比較, 評価, 説明, 正当化/根拠, 設計, 計画, 最適化',
    easy: 'こんにちは, ありがとう, 翻訳, 要約, 列挙, 定義, 訂正, どの/どれ, 誰, どこ',
    constraints: '必ず, なしで, すべての',
    code: 'コード/プログラム',
    mathematics: '方程式, 確率',
  },
  korean: {
    hard: '증명, 분석, 비교, 평가, 설명, 정당화/근거, 설계, 계획, 최적화',
    easy: '안녕, 감사/고마워, 번역, 요약, 나열, 정의, 고쳐, 어느/어떤, 누구, 어디',
    constraints: '반드시, 없이, 모든',
    code: '코드/프로그램',
    mathematics: '방정식, 확률',
  },
  arabic: {
    hard: 'أثبت/برهن, حلل/تحليل, قارن/مقارنة, قيّم/تقييم, اشرح/شرح, برر/تبرير, صمم/تصميم, خطط/تخطيط, حسّن/تحسين',
    easy: 'مرحبا, شكرا, ترجم, لخص, اذكر, عرّف/تعريف, صحح, أيهما, من هو/من هي, أين',
    constraints: 'يجب, بدون, جميع',
    code: 'برنامج',
    mathematics: 'معادلة, احتمال',
  },
  hindi: {
    hard: 'सिद्ध/साबित, विश्लेषण, तुलना, मूल्यांकन, समझा/व्याख्या, औचित्य, डिज़ाइन/डिजाइन, योजना, अनुकूल',
    easy: 'नमस्ते, धन्यवाद, अनुवाद, सारांश, सूची, परिभाषा, सुधार, कौन सा/कौन सी, कौन है, कहाँ',
    constraints: 'चाहिए, बिना, प्रत्येक',
    code: 'कोड/प्रोग्राम',
    mathematics: 'समीकरण, प्रायिकता',
  },
}

/** The forms of `meanings`, as the tables above write them. */
export function formsOf(meanings: string): string[] {
  return meanings.split(/[,/]/).map((form) => form.trim())
}
