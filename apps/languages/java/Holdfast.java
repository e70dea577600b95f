/** DL/I calls through libholdfast: see holdfast.h for what they mean. */
final class Holdfast {
    /** What a call came to. */
    static final class Answer {
        /** Two characters; blank if all is well. */
        String status;
        String segment;
        int level;
        /** How much of the area the call has set. */
        int areaLength;
        byte[] key;
    }

    /** The number of the I/O PCB. */
    static final int IO_PCB = 0;

    static {
        System.loadLibrary("holdfast_jni");
    }

    private Holdfast() {}

    /** Begins; an exception says why that cannot be. */
    static native void begin();

    /** The number of a PCB by its name, or by its database's. */
    static native int pcb(String name);

    /** Makes a call with an area of which the first {@code given} bytes are to be seen. */
    static native Answer call(String function, int pcb, byte[] area, int given, byte[]... ssas);

    /** Ends the program's work. */
    static native void end(boolean commit);

    /** The next message's first segment without LL and ZZ; null if there is none. */
    static byte[] message() {
        byte[] area = new byte[32767];
        Answer answer = call("GU", IO_PCB, area, 0);
        if (answer.status.equals("QC")) {
            return null;
        }
        if (!answer.status.equals("  ") && !answer.status.equals("CF")) {
            throw new IllegalStateException("GU: " + answer.status);
        }
        return java.util.Arrays.copyOfRange(area, 4, answer.areaLength);
    }

    /** Sends a segment to whoever sent the message. */
    static void reply(byte[] data) {
        byte[] area = new byte[data.length + 4];
        area[0] = (byte) (area.length >> 8);
        area[1] = (byte) area.length;
        System.arraycopy(data, 0, area, 4, data.length);
        Answer answer = call("ISRT", IO_PCB, area, area.length);
        if (!answer.status.equals("  ")) {
            throw new IllegalStateException("ISRT: " + answer.status);
        }
    }
}
