import type { ComponentChildren } from 'preact';
import { Field } from '../contract/field.tsx';
import type { Form } from '../contract/form.ts';
import { Dialog } from '../parts/dialog.tsx';
import { DialogForm } from './dialog-form.tsx';

interface GrantDialogProps {
  /** Name of the key or user that receives the quota. */
  name: string;
  form: Form;
  call: (signal: AbortSignal) => Promise<void>;
  onClose: () => void;
  /** Further fields, and the balance. */
  children: ComponentChildren;
}

/** The form that grants quota, or withdraws it. */
export function GrantDialog({ name, form, call, onClose, children }: GrantDialogProps) {
  return (
    <Dialog title={`Grant quota to ${name}`} onClose={onClose}>
      <DialogForm form={form} label="Grant" call={call} onClose={onClose}>
        <Field
          form={form}
          path="amount"
          label="Amount"
          hint="In quota units. A negative amount withdraws quota."
        />
        <Field form={form} path="reason" label="Reason" hint="Recorded in the ledger." rows={1} />
        {children}
      </DialogForm>
    </Dialog>
  );
}
