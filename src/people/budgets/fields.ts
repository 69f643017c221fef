/** The limits of a budget, one row for each window, with the texts that forms and routes share. */

type Row = {
  /** The field's name in bodies and forms. */
  wire: `${string}Usd`
  /** The text in forms and on pages. */
  label: string
  /** The text in the API document. */
  words: string
}

/** By window, the shortest first. */
export const BUDGET_FIELDS = {
  day: { wire: 'dayUsd', label: 'Day', words: 'a day' },
  week: { wire: 'weekUsd', label: 'Week', words: 'a week from Monday' },
  month: { wire: 'monthUsd', label: 'Month', words: 'a calendar month; of a key this is one of its own limits' },
  total: { wire: 'totalUsd', label: 'Total', words: 'for ever' },
} as const satisfies Record<string, Row>
