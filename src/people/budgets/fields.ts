/** The limits of a budget, a row for each window: the form and the routes take from here what they say of one. */

type Row = {
  /** Its name in bodies and forms. */
  wire: `${string}Usd`
  /** In forms and on pages. */
  label: string
  /** For the API document. */
  words: string
}

/** By window, the shortest first. */
export const BUDGET_FIELDS = {
  day: { wire: 'dayUsd', label: 'Day', words: 'a day' },
  week: { wire: 'weekUsd', label: 'Week', words: 'a week from Monday' },
  month: { wire: 'monthUsd', label: 'Month', words: 'a calendar month; of a key this is one of its own limits' },
  total: { wire: 'totalUsd', label: 'Total', words: 'for ever' },
} as const satisfies Record<string, Row>
