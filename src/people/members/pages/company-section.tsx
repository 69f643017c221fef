import { PlainForm } from '@/dashboard/components/fields/plain-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { notifyDone } from '@/dashboard/components/notify'
import { Section } from '@/dashboard/components/section'
import { type Company, CompanyFields, companyFrom, useCompanyForm } from './company-fields'
import { changeCompany, useMembers } from './members-data'

/** The settings of an organisation's legal data. Hidden for personal accounts, which become organisations on the members page. */
export function CompanySection() {
  const company = useMembers().data?.company
  if (!company) return null
  return (
    <Section title="Company" description="Receipts show these data from now on, also those of earlier payments.">
      <CompanyForm key={JSON.stringify(company)} company={company} />
    </Section>
  )
}

function CompanyForm({ company }: { company: Company }) {
  const form = useCompanyForm(company)
  const submission = useSubmission(form, async (fields) => {
    await changeCompany(companyFrom(fields))
    notifyDone('The company was saved.')
  })
  return (
    <PlainForm submission={submission} action="Save" button={{ variant: 'default', disabled: !form.isDirty() }}>
      <CompanyFields form={form} />
    </PlainForm>
  )
}
