/**
 * The English words that tell what kind of work a text asks for. Data, and no logic.
 *
 * Why a word is here is said beside it, and it is never that some prompt holds it: verbs go by the levels of Bloom's taxonomy
 * (to analyse, evaluate and create is hard; to remember, understand and apply is easy), nouns by their subject.
 */

/** What a word may tell; a word may tell several things. */
export type Cue = 'hard' | 'easy' | 'constraints' | 'code' | 'mathematics'

/**
 * A word of six letters stands for every word that begins with it, so that one entry covers inflections and cognates of
 * several languages (`analys…`, `optimi…`). Other words match whole.
 */
export const CUE_WORDS: Readonly<Record<Cue, readonly string[]>> = {
  hard: [
    // To analyse.
    'analys analyz apprai compar contrast contrasts contrasting correl critic critiq diagno differentiate discriminate',
    'distinguish distinguishes examin investigate investigates investigation interp infere infer infers deduce deduces',
    // To evaluate.
    'argue argues argument arguments assess defend defends discus estima evalua judge judges justif prioritise prioritize',
    'recomm weigh weighs why explai',
    // To create.
    'archit construct design develop develops devise formulate hypoth negoti plan plans propos recons resolve simula',
    'strate synthe theory theories theorise theorize',
    // To prove and to compute what nobody has looked up.
    'prove proves proof proofs disprove derive derives deriva determ maximi minimi reason reasons reasoning theorem lemma',
    // What engineers do over days, and what they fear.
    'algori implem refact migrate migrat optimi debug debugging deadlock deadlocks concur distributed scalable',
    'complexity correctness invari leak leaks vulner threat threats',
    // What careful texts are made of.
    'ambigu assump consequence consequences contradict contradictory contradiction contradictions essay evidence',
    'implication implications risk risks thesis trade-off trade-offs tradeoff tradeoffs',
  ],
  easy: [
    // To remember.
    "who when where which what what's name names list lists label labels define meaning mean means synonym synonyms antonym",
    'spell spelling capital abbreviation acronym',
    // To understand.
    'translate translation summar summary summaries tldr paraphrase rephrase rewrite shorten shorter simplify title headline',
    'typo typos grammar correct identify classify',
    // To apply a rule that is given.
    'convert count counts round add subtract multiply sort format rename extract copy print parse replace average',
    // Small talk.
    'hi hello hey thanks thank please welcome bye joke jokes',
    // What one asks an assistant of the house.
    'weather timer alarm remind reminder play turn lights call send search delete',
  ],
  constraints: [
    'must should shall cannot without within exactly precisely least most every each except unless until whether provided',
    'given assuming including excluding both either neither never always avoid avoids ensure ensures',
  ],
  code: [
    // Languages, formats and tools that everybody in the trade knows.
    'python javascript typescript java kotlin swift rust golang ruby php scala haskell perl sql bash powershell html css react',
    'angular django node docker kubernetes git github regex json yaml xml graphql postgres mysql redis linux',
    // Parts of programs, and what one does to them.
    'code function method class variable loop array pointer recursion compile compiler runtime exception refact api endpoint',
    'backend frontend database schema query server thread threads async await mutex stack heap cache kernel library module',
    'modules test tests testing bug bugs commit branch repository deploy deployment pipeline script parser framework program',
  ],
  mathematics: [
    'equation equations integral integrals derivative derivatives differential matrix matrices vector vectors polynomial',
    'probability theorem lemma proof prove disprove prime primes fraction fractions percent percentage square root median',
    'variance deviation algebra geometry calculus triangle circle rectangle area perimeter volume angle radius integer integers',
    'logarithm exponent solve converge converges sequence induction eigenvalue eigenvalues combin permut celsius fahrenheit',
    'kilometres kilometers miles',
  ],
}
