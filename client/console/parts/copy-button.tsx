import { useSignal } from '@preact/signals';
import { Check, Copy } from 'lucide';
import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';

/** Time for which the button confirms the copy. */
const confirmationMs = 1_500;

interface CopyButtonProps {
  text: string;
  /** Accessible name. */
  label?: string;
  /** Visible text beside the icon. */
  children?: ComponentChildren;
}

export function CopyButton({ text, label = 'Copy', children }: CopyButtonProps) {
  const isCopied = useSignal(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    isCopied.value = true;
    setTimeout(() => {
      isCopied.value = false;
    }, confirmationMs);
  };
  return (
    <Button
      small
      variant="plain"
      icon={isCopied.value ? Check : Copy}
      label={isCopied.value ? 'Copied' : label}
      onClick={() => void copy()}
    >
      {children}
    </Button>
  );
}
