/** One section in the index: page, anchor, titles and text. */
export type SearchEntry = { path: string; page: string; heading: string; text: string }

/** The guide's browser script: search, copy buttons, colour scheme. It is this function's source text, which uses only browser globals. */
export const SEARCH_SCRIPT = `(${startPage})()\n`

function startPage(): void {
  const MAX_RESULTS = 12
  const scheme = localStorage.getItem('mantine-color-scheme-value')
  if (scheme === 'dark' || scheme === 'light') document.documentElement.style.colorScheme = scheme
  const field = document.querySelector<HTMLInputElement>('#search')
  const list = document.querySelector<HTMLElement>('#results')
  const status = document.querySelector<HTMLElement>('#found')
  let index: Promise<SearchEntry[]> | undefined

  function load(): Promise<SearchEntry[]> {
    index ??= fetch('/docs/guide/search.json').then((answer) => answer.json())
    return index
  }

  /** All words must occur; those in a heading count more. */
  function scoreOf(entry: SearchEntry, words: string[]): number {
    const heading = `${entry.page} ${entry.heading}`.toLowerCase()
    const text = entry.text.toLowerCase()
    let score = 0
    for (const word of words) {
      const points = (heading.includes(word) ? 10 : 0) + (text.includes(word) ? 1 : 0)
      if (points === 0) return 0
      score += points
    }
    return score
  }

  function show(entry: SearchEntry, words: string[]): HTMLLIElement {
    const item = document.createElement('li')
    const link = document.createElement('a')
    link.href = entry.path
    link.textContent = entry.heading === entry.page ? entry.page : `${entry.page}: ${entry.heading}`
    const at = Math.max(0, entry.text.toLowerCase().indexOf(words[0] ?? '') - 40)
    const excerpt = document.createElement('p')
    excerpt.textContent = entry.text.slice(at, at + 140)
    item.append(link, excerpt)
    return item
  }

  async function search(): Promise<void> {
    const typed = field?.value ?? ''
    const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
    const entries = words.length > 0 ? await load() : []
    if (typed !== field?.value || !list || !status) return
    const scored = entries.map((entry) => ({ entry, score: scoreOf(entry, words) })).filter(({ score }) => score > 0)
    const best = scored.sort((one, other) => other.score - one.score).slice(0, MAX_RESULTS)
    list.replaceChildren(...best.map(({ entry }) => show(entry, words)))
    list.hidden = best.length === 0
    status.textContent =
      words.length === 0 ? '' : best.length === 0 ? 'Nothing found.' : `${best.length} sections found.`
  }

  field?.addEventListener('input', () => void search())
  for (const block of document.querySelectorAll('pre')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = 'Copy'
    button.className = 'copy'
    button.addEventListener('click', () => {
      void navigator.clipboard.writeText(block.textContent ?? '').then(() => {
        button.textContent = 'Copied'
      })
    })
    const frame = document.createElement('div')
    frame.className = 'code'
    block.replaceWith(frame)
    frame.append(block, button)
  }
}
