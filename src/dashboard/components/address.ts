/** What a page keeps in its address, so that a view can be shared and found again. */
import { useSearchParams } from 'wouter'

/** Filters of a list in the address: texts, '' = not filtered. */
export function useAddressFilters<Name extends string>(names: readonly Name[]) {
  const [params, setParams] = useSearchParams()
  const filters = Object.fromEntries(names.map((name) => [name, params.get(name) ?? ''])) as Record<Name, string>
  return {
    filters,
    isFiltered: names.some((name) => filters[name] !== ''),
    change: (name: Name, value: string) => setParams((before) => withParam(before, name, value), { replace: true }),
    clear: () => setParams({}, { replace: true }),
  }
}

/** The address's parameters with one changed; '' takes it out. */
export function withParam(before: URLSearchParams, name: string, value: string): URLSearchParams {
  const params = new URLSearchParams(before)
  if (value === '') params.delete(name)
  else params.set(name, value)
  return params
}
