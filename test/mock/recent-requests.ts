/** A request to the mock as the control page shows it. */
export interface RecentRequest {
  /** Epoch milliseconds. */
  at: number;
  method: string;
  /** Without its query, in which a socket's wishes stand. */
  path: string;
  /** Undefined for a path that no operation has. */
  operation?: string;
  /** Milliseconds that it was made to wait. */
  delay?: number;
  fault?: string;
  /** Undefined while there is no answer. */
  status?: number;
  /** How it ended: undefined while it goes on. */
  end?: 'whole' | 'broken';
  /** Milliseconds until it ended. */
  ms?: number;
}

const kept = 100;

/** The last requests, newest first. */
export class RecentRequests {
  #requests: RecentRequest[] = [];

  /** Keeps a request in mind; what becomes of it is written into what is given back. */
  note(request: RecentRequest): RecentRequest {
    this.#requests = [request, ...this.#requests].slice(0, kept);
    return request;
  }

  list(): readonly RecentRequest[] {
    return this.#requests;
  }

  forget(): void {
    this.#requests = [];
  }
}
