/** What is the same for every database whose truth does not lie in a file of this machine. */
export abstract class NoLocalFile {
  /** A copy's own counter would say nothing of a commit at the primary a moment ago. */
  dataVersion(): null {
    return null;
  }

  async checkpoint(): Promise<boolean> {
    return false;
  }

  walBytes(): number {
    return 0;
  }

  isInPlace(): boolean {
    return true;
  }

  setLogAside(): undefined {
    return undefined;
  }
}
