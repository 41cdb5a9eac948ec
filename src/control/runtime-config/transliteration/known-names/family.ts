/** Family names of North, West and East India. Read by known-names.ts, which says how. */
export const FAMILY = `
आचार्य acharya achariya acharaya | अधिकारी adhikari adhikary
अग्रवाल agarwal aggarwal agrawal agrwal agaraval | अग्निहोत्री agnihotri | अहलावत ahlawat | आहूजा ahuja
आप्टे apte | अरोड़ा arora | आर्य arya | अस्थाना asthana | आठवले athawale | अवस्थी awasthi avasthi avasti
आव्हाड awhad | बब्बर babbar | बच्चन bachchan | बडोले badole | बग्गा bagga | बहल bahl | बहुगुणा bahuguna
बैरवा bairwa | बजाज bajaj | बाजपेयी bajpai bajpayee | बख्शी bakshi | बंसल bansal bansel bunsal
बापट bapat | बरुआ barua baruah | बसु basu | बत्रा batra | बेदी bedi | बेहरा behera
भंडारी bhandari bhandary bhandaree | भारद्वाज bhardwaj bharadwaj bharatdwaj bhardvaj
भार्गव bhargava bhargav | भसीन bhasin | भाटिया bhatia bhatiya | भटनागर bhatnagar | भट्ट bhatt | भट bhat
भट्टाचार्य bhattacharya bhattacharjee | भावसार bhavsar | भोसले bhosale bhonsle bhonsale | बिष्ट bisht
बिस्वास biswas bisvas | बोहरा bohra | बोरा bora | बोरकर borkar | बोस bose | चड्ढा chadha chaddha
चक्रबर्ती chakraborty chakrabarti | चक्रवर्ती chakravarti chakravorty chakravarthy chakravarty
चंदेल chandel | चतुर्वेदी chaturvedi chathurvedi | चटर्जी chatterjee chatterji chaterjee
चट्टोपाध्याय chattopadhyay
चौधरी chaudhary chaudhari choudhary chowdhury chaudhry chaudhuri choudhari choudhury chowdhary chowdary
चौहान chauhan chouhan chohan chawhan | चौरसिया chaurasia | चव्हाण chavan chawan chavhan | चावला chawla
छाबड़ा chhabra | छेड़ा chheda | चोपड़ा chopra | चिटनिस chitnis | दाभोलकर dabholkar | दलाल dalal
डालमिया dalmia | दामले damle | दांडेकर dandekar | दास das dass | दासगुप्ता dasgupta | दवे dave
दयाल dayal | देव deo | देसाई desai | देशमुख deshmukh deshmuk deshmookh | देशपांडे deshpande despande
देवगन devgan devgn | धवन dhawan | ढिल्लों dhillon | ढोलकिया dholakia | दीक्षित dikshit dixit | दीवान diwan
डोगरा dogra | दोशी doshi | दुबे dubey dube doobey | दत्ता dutta datta
द्विवेदी dwivedi dvivedi dwiwedi dubedi | फ़डणवीस fadnavis | गडकरी gadkari
गायकवाड़ gaikwad gaekwad gayakwad | गांधी gandhi gandhy | गांगुली ganguly ganguli | गर्ग garg
गावस्कर gavaskar | गहलोत gehlot gahlot | घोष ghosh ghose gosh | घोषाल ghoshal | गिल gill | गोयनका goenka
गोगोई gogoi | गोखले gokhale | गोरे gore | गोसाईं gosain | गोस्वामी goswami gosvami goswamy
गोयल goyal goel goyel | ग्रोवर grover | गुहा guha | गुलाटी gulati | गुप्ता gupta gupte goopta
हेगड़े hegde | हुड्डा hooda huda | अय्यर iyer | अयंगर iyengar | जाधव jadhav jadav jadhao | जगताप jagtap
जायसवाल jaiswal jayaswal jayswal jaisawal | जैन jain | जेटली jaitley | जाखड़ jakhar | जांगिड़ jangid
झा jha jhah zha | जिंदल jindal | जोशी joshi joshee jossi | जुनेजा juneja | कदम kadam | कक्कड़ kakkar
काले kale | कलिता kalita | कालरा kalra | कांबली kambli | कांबले kamble | कंवर kanwar | कपाड़िया kapadia
कपूर kapoor kapur kapour capoor | कर kar | करकरे karkare | कर्वे karve | कश्यप kashyap kasyap
कटारिया kataria | कटियार katiyar | कौल kaul | केजरीवाल kejriwal | केलकर kelkar
खंडेलवाल khandelwal khandelval | खन्ना khanna khana | खत्री khatri | खोसला khosla | खुराना khurana
कोहली kohli | कोठारी kothari | कोटक kotak | कुलकर्णी kulkarni kulkarny | कुमार kumar kumaar coomar
कुंभार kumbhar | कुंडू kundu | कुशवाहा kushwaha kushwah kushvaha | लाड lad | लाल lal | लांबा lamba
लिमये limaye | लोढ़ा lodha | लोधी lodhi | लोहिया lohia | लूथरा luthra | महाजन mahajan
महापात्र mahapatra mohapatra | महतो mahato | माहेश्वरी maheshwari | महिंद्रा mahindra | माइती maity
मजूमदार majumdar | मज़ूमदार mazumdar | माखीजा makhija | मल्होत्रा malhotra mahlotra malhothra mulhotra
मलिक malik | मंडल mandal mondal | माने mane | मंगेशकर mangeshkar | मांकड़ mankad
मौर्या maurya mourya morya | माथुर mathur | मेहरा mehra | मेहरोत्रा mehrotra | मेहता mehta metha mahta
मेनन menon | मिश्रा mishra misra | मिस्त्री mistry | मित्तल mittal mital mittel mitthal | मित्रा mitra
मोदी modi mody modee | मोहंती mohanty | मोकाशी mokashi | मोरे more | मोटवानी motwani
मुखर्जी mukherjee mukherji mukherjea mukerjee | मुखोपाध्याय mukhopadhyay | मुंडे munde | नागर nagar
नागपाल nagpal | नायडू naidu nayudu naydu | नायक naik nayak naiyak | नायर nair nayar | नंदा nanda
नारंग narang | नरूला narula | नाथ nath | नौटियाल nautiyal | नेगी negi | नेने nene | निगम nigam
निंबालकर nimbalkar | निषाद nishad | ओक oak | ओबेरॉय oberoi | ओझा ojha | ओसवाल oswal | पाढ़ी padhi | पई pai
पाल pal | पालीवाल paliwal | पांचाल panchal paanchal | पंडा panda | पांडे pandey pande panday paandey
पंडित pandit | पंड्या pandya | पाणिग्रही panigrahi | पंत pant | परांजपे paranjape | पारेख parekh parikh
परिहार parihar | परमार parmar | पासवान paswan | पटेल patel pattel patal | पाठक pathak phatak
पाटीदार patidar | पाटिल patil pateel paatil | पटनायक patnaik pattanaik | पात्रा patra | पटवर्धन patwardhan
पवार pawar pavar powar | फडके phadke | फडणीस phadnis | फुले phule | पिल्लई pillai pillay pilai
पोद्दार poddar | पोतदार potdar | प्रधान pradhan | प्रजापति prajapati prajapathi | प्रजापत prajapat
पुरी puri | पुरोहित purohit | रघुवंशी raghuvanshi | राय rai | रायकर raikar | रैना raina
राजपूत rajput rajpoot rajputh rajaput | राजवाड़े rajwade | राणा rana | रानडे ranade | राणावत ranawat
राणे rane | रंगनाथन ranganathan | राव rao | रस्तोगी rastogi | राठी rathi | राठोड़ rathod
राठौर rathore rathor rathaur rathour | राउत raut | रावल raval rawal | रावत rawat rawath ravat | रे ray
रेड्डी reddy reddi redy | रॉय roy | रूंगटा rungta | रूपारेल ruparel | सभरवाल sabharwal | सचदेव sachdev
सचदेवा sachdeva | साहनी sahni sawhney | साहू sahoo sahu | सहाय sahay | सैनी saini sainee saiini sainy
सक्सेना saksena saxena sakshena | साळुंखे salunkhe | साळवी salvi | सामंत samant | संघवी sanghvi sanghavi
सांखला sankhla | सरकार sarkar sircar | सरीन sarin | सत्पथी satpathy | साठे sathe | सावंत sawant savant
सहगल sehgal sahgal | सेन sen | सेनगुप्ता sengupta | सेठ seth | सेठी sethi | शाह shah sah shaah
शर्मा sharma shurma sarmah sharama | शास्त्री shastri | शेखावत shekhawat
शेट्टी shetty shetti shettee sheti | शिंदे shinde sinde shindhe | शिर्के shirke
श्रीवास्तव shrivastava srivastava shrivastav srivastav shreevastav | शुक्ला shukla sukla shuklah sukhla
सिक्का sikka | सिंह singh sing sinh | सिंघल singhal | सिंघानिया singhania | सिन्हा sinha sinhah
सिसोदिया sisodia | सोढ़ी sodhi | सोलंकी solanki solankee | सोमानी somani | सोमैया somaiya | सोनी soni
सोनकर sonkar | सूद sood sud | सुब्रमण्यम subramaniam subramanyam subrahmanyam subramaniyam
सुब्रमण्यन subramanian subramanyan | सुले sule | सुंदरम sundaram | सूरी suri
सूर्यवंशी suryavanshi suryawanshi | स्वामी swami swamy | टंडन tandon | तनेजा taneja | तेंदुलकर tendulkar
ठाकरे thackeray thakre | ठक्कर thakkar | ठाकुर thakur thakoor takur | थापा thapa | थापर thapar
थोरात thorat | तिवारी tiwari tiwary tewari tivari | तिलक tilak | तोमर tomar | त्रेहन trehan
त्रिपाठी tripathi tripathy tripati | त्रिवेदी trivedi trivedy | त्यागी tyagi
उपाध्याय upadhyay upadhyaya upadhya upadhaya | वैद्य vaidya | वाजपेयी vajpayee | वर्मा varma verma
वर्तक vartak | वशिष्ठ vashisht vashishtha | वसावा vasava | वासवानी vaswani | वाघेला vaghela | वोहरा vohra
व्यास vyas viyas | वाधवा wadhwa | वाघ wagh | वाघमारे waghmare | वालिया walia | यादव yadav yadava yadhav
अग्रवाला agarwala | विश्वास viswas | चतुर्बेदी chaturbedi | मिश्र mishr | पांडेया pandeya
श्रीवास्तवा srivasthava | श्रीबास्तवा sribastava | त्रिबेदी tribedi | बर्मा barma | ब्यास byas
यादब yadab | कश्यपा kashyapa kasyapa | व्यासा vyasa | दत्त dutt
`;
