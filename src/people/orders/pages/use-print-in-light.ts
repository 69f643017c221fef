/** Prints receipts in the light colour scheme, even if the screen is dark. */
import { useEffect } from 'react'

const ATTRIBUTE = 'data-mantine-color-scheme'

export function usePrintInLight(): void {
  useEffect(() => {
    const media = window.matchMedia('print')
    const root = document.documentElement
    let onScreen: string | null = null
    function change() {
      if (media.matches) {
        onScreen = root.getAttribute(ATTRIBUTE)
        root.setAttribute(ATTRIBUTE, 'light')
      } else if (onScreen !== null) {
        root.setAttribute(ATTRIBUTE, onScreen)
        onScreen = null
      }
    }
    media.addEventListener('change', change)
    return () => media.removeEventListener('change', change)
  }, [])
}
