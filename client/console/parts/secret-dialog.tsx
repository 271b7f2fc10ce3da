import { TriangleAlert } from 'lucide';
import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';
import { CopyButton } from './copy-button.tsx';
import { Dialog } from './dialog.tsx';
import { Icon } from './icon.tsx';

interface SecretDialogProps {
  title: string;
  secret: string;
  /** Why the secret must be stored now. */
  warning: string;
  onClose: () => void;
  /** Text below the secret. */
  children?: ComponentChildren;
}

/** A secret that the gateway never shows again. Only the button closes the dialog. */
export function SecretDialog({ title, secret, warning, onClose, children }: SecretDialogProps) {
  return (
    <Dialog title={title} persistent onClose={onClose}>
      <p class="notice notice-warning">
        <Icon node={TriangleAlert} />
        {warning}
      </p>
      <div class="secret">
        <code>{secret}</code>
        <CopyButton text={secret} label="Copy the secret" />
      </div>
      {children}
      <div class="row">
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
