import { NativeError } from '../http/native-error.ts';
import type { Connection } from '../sockets/connection.ts';
import { closeCodeOf } from '../sockets/socket-triggers.ts';

/** Writes the server frames of one task. */
export class TaskChannel {
  readonly connection: Connection;
  readonly taskId: string;

  constructor(connection: Connection, taskId: string) {
    this.connection = connection;
    this.taskId = taskId;
  }

  send(event: string, payload: object = {}, attributes: object = {}): void {
    const header = { task_id: this.taskId, event, attributes };
    this.connection.send(JSON.stringify({ header, payload }));
  }

  /** Ends the task, and the connection with it: after a failure it may not be used again. */
  fail(error: NativeError, closeCode = closeCodeOf(error), reason = ''): void {
    const { code, message } = error;
    const header = { task_id: this.taskId, event: 'task-failed', error_code: code, error_message: message };
    this.connection.send(JSON.stringify({ header: { ...header, attributes: {} }, payload: {} }));
    this.connection.close(closeCode, reason);
  }

  /** The same for a client that does not keep to the order or the time of the frames. */
  failClient(message: string, reason = ''): void {
    this.fail(new NativeError(400, 'CLIENT_ERROR', message), 1000, reason);
  }
}
