/** The page on which a bank statement is imported: upload or paste, preview, commit. */

import { useState } from 'react'
import { Page } from '@/dashboard/components/page'
import type { Committed, Preview } from './admin-data'
import { StatementPreview } from './statement-preview'
import { StatementResult } from './statement-result'
import { StatementUpload } from './statement-upload'

type Step =
  | { kind: 'upload' }
  | { kind: 'preview'; preview: Preview }
  | { kind: 'result'; preview: Preview; committed: Committed }

export function AdminStatementsPage() {
  const [step, setStep] = useState<Step>({ kind: 'upload' })
  const restart = () => setStep({ kind: 'upload' })
  return (
    <Page
      title="Bank statements"
      description="Payments are matched to orders by their reference and amount. Nothing is credited before you have seen it."
    >
      {step.kind === 'upload' && <StatementUpload onPreview={(preview) => setStep({ kind: 'preview', preview })} />}
      {step.kind === 'preview' && (
        <StatementPreview
          preview={step.preview}
          back={restart}
          onCommitted={(committed) => setStep({ kind: 'result', preview: step.preview, committed })}
        />
      )}
      {step.kind === 'result' && (
        <StatementResult preview={step.preview} committed={step.committed} restart={restart} />
      )}
    </Page>
  )
}
