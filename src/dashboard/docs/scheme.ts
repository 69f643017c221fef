/** The scheme of the documentation: the one chosen in the dashboard, or else the system's, also when that changes. */

/** Where the dashboard's component library keeps what was chosen there. */
const CHOICE = 'mantine-color-scheme-value'
/** By this class on the document, the library of the page turns dark. */
const DARK_CLASS = 'dark-mode'

/** Keeps the page in its scheme. */
export function followScheme(): void {
  const system = matchMedia('(prefers-color-scheme: dark)')
  const apply = () => {
    const choice = localStorage.getItem(CHOICE)
    const isDark = choice === 'dark' || (choice !== 'light' && system.matches)
    document.documentElement.classList.toggle(DARK_CLASS, isDark)
  }
  system.addEventListener('change', apply)
  addEventListener('storage', apply)
  apply()
}
