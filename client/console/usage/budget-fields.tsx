import { Field } from '../contract/field.tsx';
import type { Form } from '../contract/form.ts';
import { ThresholdsField } from './thresholds-field.tsx';

/** The fields of a budget that can change. */
export function BudgetFields({ form }: { form: Form }) {
  return (
    <>
      <Field form={form} path="amount" label="Amount" />
      <ThresholdsField form={form} />
      <Field
        form={form}
        path="hard"
        label="Refuse calls that could exceed the budget"
        hint="Without it, the budget only sends events."
      />
    </>
  );
}
