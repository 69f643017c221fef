/** Alerts and scheduled mails: their limits, and each kind in the words of the pages. */

/** Maximum addresses, besides the members', that get an account's alerts. */
export const MAX_ALERT_ADDRESSES = 5
export const CONFIRM_ALERTS_DAYS = 7

export type MailWords = {
  label: string
  /** The text for members whose role gets alerts about the whole account. */
  all: string
  /** The text for other members; undefined if they get no such mail. */
  own?: string
  /** The text after "No more", when the mail is turned off. */
  noMore: string
}

/** The kinds of alerts, in the order of the page. */
export const ALERT_MAILS = {
  balance: {
    label: 'Low credit',
    all: 'When the credit falls below a threshold, and when it is used up.',
    noMore: 'alerts of low credit',
  },
  budget: {
    label: 'Budgets',
    all: 'When 50, 80 and 100 % of a budget are spent, once in each of its windows.',
    own: 'When 50, 80 and 100 % of your budget, or of that of a key of yours, are spent.',
    noMore: 'alerts of budgets',
  },
  spend: {
    label: 'Unusual spend',
    all: 'When more than three times as much is spent on a day as on a usual one.',
    noMore: 'alerts of unusual spend',
  },
  key_expiry: {
    label: 'Keys that expire',
    all: 'Seven days and one day before an API key ends, and before the former text of a rotated one does that is still used.',
    own: 'Seven days and one day before an API key of yours ends, and before its former text does that is still used.',
    noMore: 'reminders of keys that expire',
  },
} as const satisfies Record<string, MailWords>

/** The kinds of scheduled mails, in the order of the page. */
export const SCHEDULED_MAILS = {
  digest_weekly: {
    label: 'Usage of the week',
    all: 'On Monday: requests, cost, and what cost the most.',
    noMore: 'digests of the week’s usage',
  },
  digest_monthly: {
    label: 'Usage of the month',
    all: 'The same on the first of the month.',
    noMore: 'digests of the month’s usage',
  },
  export_daily: {
    label: 'Records of each day',
    all: 'A link to each day’s export.',
    noMore: 'mails with the records of a day',
  },
  export_weekly: {
    label: 'Records of each week',
    all: 'A link to the export, on Monday.',
    noMore: 'mails with the records of a week',
  },
  export_monthly: {
    label: 'Records of each month',
    all: 'A link to the export, on the first.',
    noMore: 'mails with the records of a month',
  },
} as const satisfies Record<string, MailWords>
