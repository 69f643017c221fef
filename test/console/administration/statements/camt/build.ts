/** Writes CAMT.053 statements, after the schemas of both versions, from a short description. */

export type CamtPayment = {
  usd?: string
  /** Remittance text; a list is several elements. */
  text?: string | readonly string[]
  /** A structured creditor reference. */
  creditorReference?: string
  endToEnd?: string
  bankReference?: string
  payer?: string
  isReturn?: boolean
}

export type CamtEntry = {
  amount: string
  currency?: string
  direction?: 'CRDT' | 'DBIT'
  status?: 'BOOK' | 'PDNG' | 'INFO'
  isReversal?: boolean
  day?: string
  bankReference?: string
  payments?: readonly CamtPayment[]
  note?: string
}

export type CamtVersion = '02' | '08'
export const CAMT_VERSIONS = ['02', '08'] as const

const IBAN = 'DE89370400440532013000'

/** A file of one statement for each list of entries. */
export function camt(version: CamtVersion, ...statements: readonly (readonly CamtEntry[])[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.${version}">
<BkToCstmrStmt>
<GrpHdr><MsgId>message-1</MsgId><CreDtTm>2026-11-21T06:00:00+01:00</CreDtTm></GrpHdr>
${statements.map((entries, index) => statement(version, entries, index + 1)).join('\n')}
</BkToCstmrStmt>
</Document>
`
}

function statement(version: CamtVersion, entries: readonly CamtEntry[], number: number): string {
  return `<Stmt><Id>statement-${number}</Id><CreDtTm>2026-11-21T06:00:00+01:00</CreDtTm>
<Acct><Id><IBAN>${IBAN}</IBAN></Id><Ccy>USD</Ccy></Acct>
${balance('OPBD')}${balance('CLBD')}
${entries.map((entry) => entryXml(version, entry)).join('\n')}
</Stmt>`
}

function balance(code: string): string {
  return `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp><Amt Ccy="USD">0</Amt><CdtDbtInd>CRDT</CdtDbtInd>
<Dt><Dt>2026-11-20</Dt></Dt></Bal>`
}

function entryXml(version: CamtVersion, entry: CamtEntry): string {
  const { amount, currency = 'USD', direction = 'CRDT', status = 'BOOK', day = '2026-11-20' } = entry
  const details = entry.payments?.map((payment) => payment && paymentXml(version, entry, payment)).join('') ?? ''
  return [
    `<Ntry><Amt Ccy="${currency}">${amount}</Amt><CdtDbtInd>${direction}</CdtDbtInd>`,
    entry.isReversal === undefined ? '' : `<RvslInd>${entry.isReversal}</RvslInd>`,
    version === '02' ? `<Sts>${status}</Sts>` : `<Sts><Cd>${status}</Cd></Sts>`,
    `<BookgDt><Dt>${day}</Dt></BookgDt><ValDt><Dt>${day}</Dt></ValDt>`,
    element('AcctSvcrRef', entry.bankReference),
    '<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd><SubFmlyCd>ESCT</SubFmlyCd></Fmly></Domn></BkTxCd>',
    details && `<NtryDtls>${details}</NtryDtls>`,
    element('AddtlNtryInf', entry.note),
    '</Ntry>',
  ].join('')
}

function paymentXml(version: CamtVersion, { currency = 'USD', direction = 'CRDT' }: CamtEntry, payment: CamtPayment) {
  const { usd, text = [], creditorReference, endToEnd, bankReference, payer, isReturn } = payment
  const amount = usd === undefined ? '' : `<Amt Ccy="${currency}">${usd}</Amt>`
  const party = direction === 'CRDT' ? 'Dbtr' : 'Cdtr'
  const name = payer === undefined ? '' : version === '02' ? element('Nm', payer) : `<Pty>${element('Nm', payer)}</Pty>`
  const texts = (typeof text === 'string' ? [text] : text).map((one) => element('Ustrd', one)).join('')
  const structured = creditorReference && `<Strd><CdtrRefInf>${element('Ref', creditorReference)}</CdtrRefInf></Strd>`
  const remittance = texts + (structured ?? '')
  return [
    '<TxDtls><Refs>',
    element('AcctSvcrRef', bankReference),
    element('EndToEndId', endToEnd ?? 'NOTPROVIDED'),
    '</Refs>',
    amount &&
      (version === '02'
        ? `<AmtDtls><TxAmt>${amount}</TxAmt></AmtDtls>`
        : `${amount}<CdtDbtInd>${direction}</CdtDbtInd>`),
    name && `<RltdPties><${party}>${name}</${party}></RltdPties>`,
    remittance && `<RmtInf>${remittance}</RmtInf>`,
    isReturn ? '<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>' : '',
    '</TxDtls>',
  ].join('')
}

function element(name: string, text: string | undefined): string {
  if (text === undefined) return ''
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return `<${name}>${escaped}</${name}>`
}
