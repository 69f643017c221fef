/** Page state in the URL, so that a view can be shared or bookmarked. */
import { useSearchParams } from 'wouter'

/** List filters in the URL. They are texts; '' means no filter. */
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

/** The URL's parameters with one changed; '' removes it. */
export function withParam(before: URLSearchParams, name: string, value: string): URLSearchParams {
  const params = new URLSearchParams(before)
  if (value === '') params.delete(name)
  else params.set(name, value)
  return params
}
